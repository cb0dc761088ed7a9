//! The provider of a session without a key: it says what is missing, at once.

use futures_util::future::{BoxFuture, ready};
use serde_json::Value;

use crate::{ApiFailure, ApiRequest, Capabilities, FailureKind, Provider, RequestBody, Streaming};

/// Every request fails.
#[derive(Debug)]
pub(crate) struct NoKey;

fn failure<T>() -> BoxFuture<'static, Result<T, ApiFailure>>
where
    T: Send + 'static,
{
    let text = "not logged in: there is no API key; set `ANTHROPIC_API_KEY` or \
                `ANTHROPIC_AUTH_TOKEN`, or the setting `apiKeyHelper`";
    Box::pin(ready(Err(ApiFailure::new(
        FailureKind::Authentication,
        text,
    ))))
}

impl Provider for NoKey {
    fn stream(&self, _: ApiRequest) -> BoxFuture<'_, Result<Streaming, ApiFailure>> {
        failure()
    }

    fn whole(&self, _: ApiRequest) -> BoxFuture<'_, Result<Value, ApiFailure>> {
        failure()
    }

    fn count_tokens(&self, _: RequestBody) -> BoxFuture<'_, Result<u64, ApiFailure>> {
        failure()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::FULL
    }

    fn key_source(&self) -> &'static str {
        "none"
    }
}
