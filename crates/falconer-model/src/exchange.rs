//! One HTTP exchange: from a request to a success, or to a failure that says what happened.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Response, Url};
use serde_json::Value;

use crate::http::chain;
use crate::{ApiFailure, FailureKind, classify};

/// How much of an answer that is an error is read.
const ERROR_LIMIT: usize = 64 << 10;

/// How large an answer in one piece may be.
const MESSAGE_LIMIT: usize = 64 << 20;

/// How long the rest of an error may take.
const ERROR_PATIENCE: Duration = Duration::from_secs(10);

/// Sends a request and waits for the head of a successful answer.
pub(crate) async fn begin(
    request: RequestBuilder,
    limit: Duration,
    base: &Url,
) -> Result<Response, ApiFailure> {
    let answer = tokio::time::timeout(limit, request.send()).await;
    let silence = || ApiFailure::timeout(&format!("{} did not answer", place(base)), limit);
    let response = answer
        .map_err(|_| silence())?
        .map_err(|error| broken(error, &format!("failed to reach {}", place(base))))?;
    if response.status().is_success() {
        Ok(response)
    } else {
        Err(refused(response).await)
    }
}

/// The host and port, without what else a URL may hold.
pub(crate) fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or("the API");
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

async fn refused(response: Response) -> ApiFailure {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let reading = collect(response, ERROR_LIMIT, Overflow::Cut);
    let body = match tokio::time::timeout(ERROR_PATIENCE, reading).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) | Err(_) => Bytes::new(),
    };
    let header = |name: &str| {
        let value = headers.get(name)?.to_str().ok()?;
        Some(value.to_owned())
    };
    let mut failure = classify::from_status(status, header, &body);
    if (300..400).contains(&status) {
        let text = "the API answered with a redirect, which is not followed; correct the base URL";
        text.clone_into(&mut failure.message);
    }
    failure
}

/// Reads the JSON of an answer in one piece.
pub(crate) async fn json(response: Response, limit: Duration) -> Result<Value, ApiFailure> {
    let request_id = header(&response, "request-id");
    let reading = collect(response, MESSAGE_LIMIT, Overflow::Refuse);
    let body = tokio::time::timeout(limit, reading).await;
    let silence = || ApiFailure::timeout("the answer was not complete", limit);
    let body = body.map_err(|_| silence()).flatten();
    let value = body.and_then(|body| {
        serde_json::from_slice(&body)
            .map_err(|error| ApiFailure::malformed(format!("the answer is not JSON: {error}")))
    });
    value.map_err(|failure| failure.of_request(request_id.as_deref()))
}

/// What to do with a body above the limit.
#[derive(Debug, Clone, Copy)]
enum Overflow {
    Cut,
    Refuse,
}

async fn collect(
    mut response: Response,
    limit: usize,
    overflow: Overflow,
) -> Result<Bytes, ApiFailure> {
    let mut body = BytesMut::new();
    loop {
        let chunk = response.chunk().await;
        let chunk = chunk.map_err(|error| broken(error, "the connection broke in the answer"))?;
        let Some(chunk) = chunk else {
            return Ok(body.freeze());
        };
        body.extend_from_slice(&chunk);
        match overflow {
            _ if body.len() <= limit => {}
            Overflow::Cut => return Ok(body.split_to(limit).freeze()),
            Overflow::Refuse => {
                let text = format!("the answer is larger than {limit} bytes");
                return Err(ApiFailure::malformed(text));
            }
        }
    }
}

/// Checks what kind of answer it is; an answer that does not say is believed.
pub(crate) fn expect_type(response: &Response, expected: &str) -> Result<(), ApiFailure> {
    let kind = response.headers().get(CONTENT_TYPE);
    let Some(kind) = kind.and_then(|kind| kind.to_str().ok()) else {
        return Ok(());
    };
    if kind.trim_start().to_ascii_lowercase().starts_with(expected) {
        return Ok(());
    }
    let text = format!("expected an answer of type {expected}, got {kind}");
    let failure = ApiFailure::malformed(text);
    Err(failure.of_request(header(response, "request-id").as_deref()))
}

pub(crate) fn header(response: &Response, name: &str) -> Option<String> {
    let value = response.headers().get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

/// The headers the loop, or the host, wants to see.
pub(crate) fn worth_passing_on(response: &Response) -> Vec<(String, String)> {
    let headers = response.headers().iter();
    let ours = headers.filter(|(name, _)| name.as_str().starts_with("anthropic-"));
    let text = ours.filter_map(|(name, value)| {
        let value = value.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    });
    text.collect()
}

/// A connection that could not be made, or broke.
pub(crate) fn broken(error: reqwest::Error, what: &str) -> ApiFailure {
    let kind = if error.is_timeout() {
        FailureKind::Timeout
    } else {
        FailureKind::Connection
    };
    // A URL may hold a password.
    let error = error.without_url();
    ApiFailure::new(kind, format!("{what}: {}", chain(&error)))
}
