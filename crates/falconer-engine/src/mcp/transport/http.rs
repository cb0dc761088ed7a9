//! The HTTP client for streamable servers: as rmcp's own, but no answer is read without limit.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Client, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::LONGEST_MESSAGE;

const SESSION: &str = "Mcp-Session-Id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

type HttpError = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Stream = BoxStream<'static, Result<Sse, SseError>>;

/// A client that gives up on answers that are too long.
#[derive(Debug, Clone)]
pub(in crate::mcp) struct Bounded {
    client: Client,
}

impl Bounded {
    pub(in crate::mcp) fn new(client: Client) -> Self {
        Self { client }
    }
}

impl StreamableHttpClient for Bounded {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let mut request = self.client.post(uri.as_ref()).header(ACCEPT, both());
        for (name, value) in custom_headers {
            request = request.header(name, value);
        }
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        let in_session = session_id.is_some();
        if let Some(session) = session_id {
            request = request.header(SESSION, session.as_ref());
        }
        let response = request.json(&message).send().await.map_err(no_url)?;
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        answer(response, in_session, is_request).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
        _max_sse_event_size: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.post_message(uri, message, session_id, auth_header, custom_headers)
            .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), HttpError> {
        self.client
            .delete_session(uri, session_id, auth_header, custom_headers)
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Stream, HttpError> {
        let limit = LONGEST_MESSAGE;
        self.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            limit,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<Stream, HttpError> {
        let opened = self.client.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            max_sse_event_size,
        );
        opened.await
    }
}

async fn answer(
    response: Response,
    in_session: bool,
    is_request: bool,
) -> Result<StreamableHttpPostResponse, HttpError> {
    let status = response.status();
    let header = |name: &str| {
        let value = response.headers().get(name);
        value.and_then(|it| it.to_str().ok()).map(str::to_owned)
    };
    let kind = header(CONTENT_TYPE.as_str()).unwrap_or_default();
    let session = header(SESSION);
    match status {
        StatusCode::UNAUTHORIZED => {
            let challenge = header(WWW_AUTHENTICATE.as_str()).unwrap_or_default();
            let wanted = AuthRequiredError::new(challenge);
            return Err(StreamableHttpError::AuthRequired(wanted));
        }
        StatusCode::NOT_FOUND if in_session => return Err(StreamableHttpError::SessionExpired),
        StatusCode::ACCEPTED | StatusCode::NO_CONTENT => {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        _ => {}
    }
    if status.is_success() && kind.starts_with(EVENTS) {
        return Ok(StreamableHttpPostResponse::Sse(events(response), session));
    }
    if status.is_success() && !is_request {
        // Nobody waits for what it says.
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if !kind.starts_with(JSON) {
        return Err(unexpected(format!(
            "HTTP {status} with content of type `{kind}`"
        )));
    }
    let body = body(response).await?;
    match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
        Err(error) => Err(unexpected(format!(
            "HTTP {status} with no message: {error}"
        ))),
    }
}

async fn body(response: Response) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(no_url)?;
        if body.len() + chunk.len() > LONGEST_MESSAGE {
            return Err(unexpected(format!(
                "an answer longer than {LONGEST_MESSAGE} bytes"
            )));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The events of an answer. The stream breaks off when one of them is too long.
fn events(response: Response) -> Stream {
    let mut since_newline = 0_usize;
    let chunks = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(|error| std::io::Error::other(error.without_url()))?;
        // An event ends with an empty line, and a server has no reason for long ones in between.
        match memchr::memmem::rfind(&chunk, b"\n\n") {
            Some(at) => since_newline = chunk.len() - at - 2,
            None => since_newline += chunk.len(),
        }
        if since_newline > LONGEST_MESSAGE {
            let why = format!("an event is longer than {LONGEST_MESSAGE} bytes");
            return Err(std::io::Error::other(why));
        }
        Ok(chunk)
    });
    SseStream::from_bytes_stream(chunks).boxed()
}

fn both() -> String {
    format!("{EVENTS}, {JSON}")
}

fn unexpected(what: String) -> HttpError {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(what))
}

fn no_url(error: reqwest::Error) -> HttpError {
    StreamableHttpError::Client(error.without_url())
}
