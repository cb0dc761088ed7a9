//! Models: a Messages API over HTTP, Amazon Bedrock, or a script, behind one trait.
//!
//! A [`Provider`] sends one request and reads one answer. Its caller decides whether to try again,
//! with the pure rules of a [`RetryPolicy`]. [`PriceTable`] says what an answer costs,
//! [`KNOWN_MODELS`] which models there are. Nothing here knows tools or sessions.

mod anthropic;
mod assemble;
#[cfg(feature = "bedrock")]
mod bedrock;
mod body;
mod classify;
mod connect;
mod credential;
mod endpoint;
mod events;
mod exchange;
mod failure;
mod helper;
mod http;
mod known;
mod no_key;
mod price;
mod record;
mod renewable;
mod request;
mod retry;
mod scripted;
mod side;
mod sse;
mod timeouts;

use std::pin::Pin;

use falconer_protocol::stream::StreamEvent;
use futures_core::Stream;
use futures_util::future::BoxFuture;
use serde_json::{Value, value::RawValue};

pub use assemble::{Assembler, FinishedBlock, MalformedInput};
pub use body::{JsonText, RequestBody};
pub use connect::{ConnectError, ProviderSettings, connect};
pub use failure::{ApiFailure, FailureKind};
pub use known::{
    DEFAULT_MODEL, KNOWN_MODELS, KnownModel, ThinkingStyle, after_refusal, is_known_model,
    list_models, resolve_model, takes_effort, thinking_style,
};
pub use price::{FoundPrice, Price, PriceTable, canonical_model};
pub use record::{ModelTape, Overheard};
pub use renewable::Renewable;
pub use request::ApiRequest;
pub use retry::{Attempt, RetryDecision, RetryPolicy, is_retryable, jitter};
pub use scripted::Scripted;
pub use side::QuickModel;

/// A place that answers requests of the Messages API.
pub trait Provider: std::fmt::Debug + Send + Sync {
    /// Sends one request and gives the events of its answer; no retries.
    ///
    /// The field `stream` is always true. Dropping the stream, or the future, cancels.
    fn stream(&self, request: ApiRequest) -> BoxFuture<'_, Result<Streaming, ApiFailure>>;

    /// The same without a stream: the whole message, for the retry after a mid-stream error.
    fn whole(&self, request: ApiRequest) -> BoxFuture<'_, Result<Value, ApiFailure>>;

    fn count_tokens(&self, body: RequestBody) -> BoxFuture<'_, Result<u64, ApiFailure>>;

    /// What this endpoint understands; fields it does not are left out of requests.
    fn capabilities(&self) -> Capabilities;

    /// For `system/init` and the account: `ANTHROPIC_API_KEY`, `none`, …
    fn key_source(&self) -> &'static str;

    /// Takes what the environment says now. On failure everything stays as it was.
    fn renew(&self) -> Result<(), ConnectError> {
        Ok(())
    }
}

/// Where [`Provider::whole`] puts the id of the request into the message.
pub const WHOLE_REQUEST_ID: &str = "_request_id";

/// An answer that has begun.
///
/// Read the events to their end, `None`: a connection whose answer was read to the end is used
/// again, one whose answer was dropped is closed.
pub struct Streaming {
    pub request_id: Option<String>,
    /// `anthropic-ratelimit-*` and others worth passing on.
    pub headers: Vec<(String, String)>,
    /// Ends after `message_stop`, or with one failure.
    pub events: Pin<Box<dyn Stream<Item = Result<ApiEvent, ApiFailure>> + Send>>,
}

impl std::fmt::Debug for Streaming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Streaming")
            .field("request_id", &self.request_id)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// One event of a stream, as it came and as we read it.
#[derive(Debug, Clone)]
pub struct ApiEvent {
    /// One line of JSON.
    pub raw: Box<RawValue>,
    pub event: StreamEvent,
}

/// What an endpoint understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    pub prompt_caching: bool,
    pub thinking: bool,
    pub betas: bool,
    pub context_management: bool,
    pub effort: bool,
    pub count_tokens: bool,
}

impl Capabilities {
    /// All that Anthropic's own API understands.
    pub const FULL: Self = Self {
        prompt_caching: true,
        thinking: true,
        betas: true,
        context_management: true,
        effort: true,
        count_tokens: true,
    };
}

/// A quick question to a small model, beside the conversation.
pub trait SideModel: std::fmt::Debug + Send + Sync {
    fn ask(&self, prompt: String) -> BoxFuture<'_, Result<String, ApiFailure>>;

    /// What was used since the last call: the model, and the usage of each answer.
    fn take_spent(&self) -> (&str, Vec<Value>) {
        ("", Vec::new())
    }
}
