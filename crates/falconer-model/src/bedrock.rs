//! Claude models on Amazon Bedrock: the Messages API in Amazon's envelope.
//!
//! Requests are signed (SigV4) or carry a bearer token; answers are event-stream frames whose
//! payloads are the events of the Messages API.

mod frame;
mod sign;

use std::sync::Arc;

use bytes::Bytes;
use falconer_secret::Environment;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::{Response, Url};
use serde_json::Value;

use self::frame::Frames;
use self::sign::Signer;
use crate::connect::{base_url, custom_headers};
use crate::events;
use crate::exchange;
use crate::http::Route;
use crate::timeouts::Timeouts;
use crate::{
    ApiFailure, ApiRequest, Capabilities, ConnectError, FailureKind, JsonText, Provider,
    ProviderSettings, RequestBody, Streaming,
};

const VERSION: &str = "bedrock-2023-05-31";

/// What Bedrock understands: it counts tokens elsewhere and edits no context.
const CAPABILITIES: Capabilities = Capabilities {
    context_management: false,
    count_tokens: false,
    ..Capabilities::FULL
};

/// Amazon Bedrock.
#[derive(Debug)]
pub(crate) struct Bedrock {
    endpoint: Arc<Endpoint>,
}

struct Endpoint {
    /// Ends with a slash.
    base: Url,
    route: Route,
    signer: Signer,
    custom_headers: HeaderMap,
    user_agent: HeaderValue,
    timeouts: Timeouts,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            // The whole URL may hold a password.
            .field("host", &exchange::place(&self.base))
            .field("route", &self.route)
            .field("signer", &self.signer)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

impl Bedrock {
    pub(crate) fn from_environment(
        environment: &Environment,
        settings: &ProviderSettings,
    ) -> Result<Self, ConnectError> {
        let region = environment
            .text("AWS_REGION")
            .or_else(|| environment.text("AWS_DEFAULT_REGION"))
            .ok_or(ConnectError::BedrockNeeds("AWS_REGION"))?;
        let base = environment.text("ANTHROPIC_BEDROCK_BASE_URL");
        let base =
            base.unwrap_or_else(|| format!("https://bedrock-runtime.{region}.amazonaws.com"));
        let base = base_url(&base, "ANTHROPIC_BEDROCK_BASE_URL")?;
        let endpoint = Endpoint {
            route: Route::to(&base, environment)?,
            signer: Signer::from_environment(environment, region)?,
            custom_headers: custom_headers(environment)?,
            user_agent: settings.user_agent(),
            timeouts: Timeouts::from_environment(environment),
            base,
        };
        Ok(Self {
            endpoint: Arc::new(endpoint),
        })
    }

    async fn streamed(&self, request: ApiRequest) -> Result<Streaming, ApiFailure> {
        let response = self
            .endpoint
            .send(request, "invoke-with-response-stream")
            .await?;
        let request_id = exchange::header(&response, "x-amzn-requestid");
        let chunks = response.bytes_stream().map(|chunk| {
            chunk.map_err(|error| exchange::broken(error, "the connection broke in the answer"))
        });
        let idle = self.endpoint.timeouts.idle;
        Ok(Streaming {
            events: events::read(Box::pin(chunks), Frames::new(), idle, request_id.clone()),
            request_id,
            headers: Vec::new(),
        })
    }

    async fn in_one_piece(&self, request: ApiRequest) -> Result<Value, ApiFailure> {
        let response = self.endpoint.send(request, "invoke").await?;
        exchange::json(response, self.endpoint.timeouts.first_byte).await
    }
}

impl Endpoint {
    async fn send(&self, mut request: ApiRequest, action: &str) -> Result<Response, ApiFailure> {
        CAPABILITIES.strip(&mut request)?;
        let (model, body) = envelope(request)?;
        let url = self.url(&model, action)?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(self.signer.headers(&url, &body)?);
        headers.insert(USER_AGENT, self.user_agent.clone());
        headers.extend(self.custom_headers.clone());
        let client = self.route.client().await?;
        let request = client.post(url).headers(headers).body(body);
        exchange::begin(request, self.timeouts.first_byte, &self.base).await
    }

    fn url(&self, model: &str, action: &str) -> Result<Url, ApiFailure> {
        let mut url = self.base.clone();
        let bad = |()| invalid("the base URL of Bedrock cannot have a path");
        url.path_segments_mut()
            .map_err(bad)?
            .pop_if_empty()
            .extend(["model", model, action]);
        // A colon may stand in a path, but Amazon signs it escaped.
        let path = url.path().replace(':', "%3A");
        url.set_path(&path);
        Ok(url)
    }
}

/// The body as Bedrock wants it: the model is in the path, the betas are in the body.
fn envelope(request: ApiRequest) -> Result<(String, Bytes), ApiFailure> {
    let ApiRequest { mut body, betas } = request.not_streamed();
    if !betas.is_empty() {
        body.set("anthropic_beta", JsonText::of(betas));
    }
    let model = body.string("model").filter(|model| !model.is_empty());
    let model = model.ok_or_else(|| invalid("the request names no model"))?;
    body.remove("model");
    body.set("anthropic_version", JsonText::of(VERSION));
    Ok((model, body.to_bytes()))
}

fn invalid(text: &str) -> ApiFailure {
    ApiFailure::new(FailureKind::InvalidRequest, text)
}

impl Provider for Bedrock {
    fn stream(&self, request: ApiRequest) -> BoxFuture<'_, Result<Streaming, ApiFailure>> {
        Box::pin(self.streamed(request))
    }

    fn whole(&self, request: ApiRequest) -> BoxFuture<'_, Result<Value, ApiFailure>> {
        Box::pin(self.in_one_piece(request))
    }

    fn count_tokens(&self, _: RequestBody) -> BoxFuture<'_, Result<u64, ApiFailure>> {
        let failure = invalid("Amazon Bedrock does not count tokens for us");
        Box::pin(std::future::ready(Err(failure)))
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn key_source(&self) -> &'static str {
        "none"
    }
}

#[cfg(test)]
mod tests;
