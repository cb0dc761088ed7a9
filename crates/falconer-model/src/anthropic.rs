//! The Messages API over HTTP: Anthropic's, a gateway's, or that of a compatible server.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use reqwest::{Method, Response, Url};
use serde_json::Value;

use crate::credential::Credentials;
use crate::events::{self, Sse};
use crate::exchange;
use crate::helper::Freshness;
use crate::http::Route;
use crate::timeouts::Timeouts;
use crate::{ApiFailure, ApiRequest, Capabilities, FailureKind, Provider, RequestBody, Streaming};

const VERSION: &str = "2023-06-01";
const ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const ANTHROPIC_BETA: HeaderName = HeaderName::from_static("anthropic-beta");

/// A Messages API. As small as a pointer; connections are shared by the whole process.
#[derive(Debug)]
pub(crate) struct Anthropic {
    endpoint: Arc<Endpoint>,
}

/// Where the API is and how it is spoken to.
pub(crate) struct Endpoint {
    /// Ends with a slash.
    pub(crate) base: Url,
    pub(crate) route: Route,
    pub(crate) credentials: Credentials,
    /// `ANTHROPIC_CUSTOM_HEADERS`: they win over ours.
    pub(crate) custom_headers: HeaderMap,
    pub(crate) user_agent: HeaderValue,
    pub(crate) timeouts: Timeouts,
    pub(crate) capabilities: Capabilities,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            // The whole URL may hold a password.
            .field("host", &exchange::place(&self.base))
            .field("route", &self.route)
            .field("credentials", &self.credentials)
            .field("timeouts", &self.timeouts)
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

/// What is asked of the API.
struct Ask<'a> {
    method: Method,
    path: &'a str,
    query: &'a [(&'a str, &'a str)],
    betas: &'a [String],
    body: Option<Bytes>,
}

impl Anthropic {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint: Arc::new(endpoint),
        }
    }

    async fn streamed(&self, request: ApiRequest) -> Result<Streaming, ApiFailure> {
        let response = self.messages("v1/messages", request.streamed()).await?;
        exchange::expect_type(&response, "text/event-stream")?;
        let request_id = exchange::header(&response, "request-id");
        let headers = exchange::worth_passing_on(&response);
        let chunks = response.bytes_stream().map(|chunk| {
            chunk.map_err(|error| exchange::broken(error, "the connection broke in the answer"))
        });
        let idle = self.endpoint.timeouts.idle;
        Ok(Streaming {
            events: events::read(Box::pin(chunks), Sse::new(), idle, request_id.clone()),
            request_id,
            headers,
        })
    }

    async fn in_one_piece(&self, request: ApiRequest) -> Result<Value, ApiFailure> {
        let response = self.messages("v1/messages", request.not_streamed()).await?;
        let request_id = exchange::header(&response, "request-id");
        let mut message = exchange::json(response, self.endpoint.timeouts.first_byte).await?;
        if let (Some(id), Some(fields)) = (request_id, message.as_object_mut()) {
            fields.insert(crate::WHOLE_REQUEST_ID.to_owned(), Value::String(id));
        }
        Ok(message)
    }

    async fn count(&self, body: RequestBody) -> Result<u64, ApiFailure> {
        if !self.endpoint.capabilities.count_tokens {
            let text = "this endpoint does not count tokens";
            return Err(ApiFailure::new(FailureKind::InvalidRequest, text));
        }
        let betas = Vec::new();
        let request = ApiRequest { body, betas }.not_streamed();
        let response = self.messages("v1/messages/count_tokens", request).await?;
        let answer = exchange::json(response, self.endpoint.timeouts.first_byte).await?;
        let tokens = answer["input_tokens"].as_u64();
        tokens.ok_or_else(|| ApiFailure::malformed("the count of tokens holds no number"))
    }

    async fn messages(&self, path: &str, mut request: ApiRequest) -> Result<Response, ApiFailure> {
        self.endpoint.capabilities.strip(&mut request)?;
        let query: &[_] = if self.endpoint.capabilities.betas {
            &[("beta", "true")]
        } else {
            &[]
        };
        let ask = Ask {
            method: Method::POST,
            path,
            query,
            betas: &request.betas,
            body: Some(request.body.to_bytes()),
        };
        self.endpoint.send(&ask).await
    }
}

impl Endpoint {
    /// Sends a request; a key of the helper that is refused is replaced once.
    async fn send(&self, ask: &Ask<'_>) -> Result<Response, ApiFailure> {
        match self.try_once(ask, Freshness::Cached).await {
            Err(failure) if failure.status == Some(401) && self.credentials.can_refresh() => {
                self.try_once(ask, Freshness::Fresh).await
            }
            other => other,
        }
    }

    async fn try_once(&self, ask: &Ask<'_>, freshness: Freshness) -> Result<Response, ApiFailure> {
        let client = self.route.client().await?;
        let mut request = client
            .request(ask.method.clone(), self.url(ask)?)
            .headers(self.headers(ask, freshness).await?);
        if let Some(body) = &ask.body {
            request = request.body(body.clone());
        }
        let limit = self.timeouts.first_byte;
        exchange::begin(request, limit, &self.base).await
    }

    fn url(&self, ask: &Ask<'_>) -> Result<Url, ApiFailure> {
        let mut url = self.base.join(ask.path).map_err(|error| {
            ApiFailure::new(
                FailureKind::InvalidRequest,
                format!("the base URL is unusable: {error}"),
            )
        })?;
        if !ask.query.is_empty() {
            url.query_pairs_mut().extend_pairs(ask.query);
        }
        Ok(url)
    }

    async fn headers(&self, ask: &Ask<'_>, freshness: Freshness) -> Result<HeaderMap, ApiFailure> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, self.user_agent.clone());
        headers.insert(ANTHROPIC_VERSION, HeaderValue::from_static(VERSION));
        if ask.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if !ask.betas.is_empty() {
            let betas = HeaderValue::from_str(&ask.betas.join(",")).map_err(|_| {
                let text = "the name of a beta holds characters that cannot be sent in a header";
                ApiFailure::new(FailureKind::InvalidRequest, text)
            })?;
            headers.insert(ANTHROPIC_BETA, betas);
        }
        self.credentials.apply(&mut headers, freshness).await?;
        headers.extend(self.custom_headers.clone());
        Ok(headers)
    }
}

impl Provider for Anthropic {
    fn stream(&self, request: ApiRequest) -> BoxFuture<'_, Result<Streaming, ApiFailure>> {
        Box::pin(self.streamed(request))
    }

    fn whole(&self, request: ApiRequest) -> BoxFuture<'_, Result<Value, ApiFailure>> {
        Box::pin(self.in_one_piece(request))
    }

    fn count_tokens(&self, body: RequestBody) -> BoxFuture<'_, Result<u64, ApiFailure>> {
        Box::pin(self.count(body))
    }

    fn capabilities(&self) -> Capabilities {
        self.endpoint.capabilities
    }

    fn key_source(&self) -> &'static str {
        self.endpoint.credentials.source()
    }
}

#[cfg(test)]
mod tests;
