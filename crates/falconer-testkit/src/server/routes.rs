//! The paths of the Messages API, and what each does with the script.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde_json::{Value, json};

use super::Shared;
use super::connection::Breaker;
use super::log::RecordedRequest;
use super::stream;
use crate::scenario::{Answer, ApiError, ModelRequest};

/// The API takes 32 MB; a little more, so that a scenario may answer 413 itself.
const BODY_LIMIT: usize = 40 << 20;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/messages", post(create_message))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1/models", get(models))
        .route("/", any(root))
        .fallback(unknown)
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .with_state(shared)
}

async fn create_message(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(breaker): ConnectInfo<Breaker>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut record = recorded(&method, &uri, &headers, &body);
    let request = model_request(&record);
    let answer = {
        // Answered and recorded under one lock, so that the log has the order of the script.
        let mut script = shared.script();
        let answer = script.answer(&request);
        note(&mut record, &answer);
        shared.log.add(record);
        answer
    };
    stream::respond(answer, shared.gates.clone(), breaker).await
}

fn note(record: &mut RecordedRequest, answer: &Answer) {
    record.kind = Some(answer.kind);
    record.rule = answer.rule;
    record.unmatched = answer.unmatched.clone();
}

async fn count_tokens(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let record = recorded(&method, &uri, &headers, &body);
    let tokens = shared.script().count_tokens(&model_request(&record));
    shared.log.add(record);
    Json(json!({"input_tokens": tokens})).into_response()
}

async fn models(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    shared
        .log
        .add(recorded(&method, &uri, &headers, &Bytes::new()));
    let model = json!({
        "type": "model", "id": "scripted-model", "display_name": "Scripted model",
        "created_at": "2025-01-01T00:00:00Z",
    });
    Json(json!({
        "data": [model], "has_more": false,
        "first_id": "scripted-model", "last_id": "scripted-model",
    }))
    .into_response()
}

async fn root(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    shared.log.add(recorded(&method, &uri, &headers, &body));
    Json(json!({})).into_response()
}

async fn unknown(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut record = recorded(&method, &uri, &headers, &body);
    let text = format!("the scripted server has no {method} {}", uri.path());
    record.unmatched = Some(text.clone());
    shared.log.add(record);
    failure(&ApiError::new(404).message(text))
}

/// An API error as a response.
pub(super) fn failure(error: &ApiError) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    if let Some(seconds) = error.retry_after {
        response = response.header("retry-after", seconds);
    }
    for (name, value) in &error.headers {
        response = response.header(name, value);
    }
    let body = Body::from(error.body().to_string());
    built(response.body(body))
}

/// A response, or why the scenario's headers do not make one.
pub(super) fn built(response: Result<Response, axum::http::Error>) -> Response {
    response.unwrap_or_else(|error| {
        let text = format!("the scenario asks for an impossible response: {error}");
        (StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
    })
}

fn recorded(method: &Method, uri: &Uri, headers: &HeaderMap, body: &Bytes) -> RecordedRequest {
    let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    };
    RecordedRequest {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query: uri.query().map(str::to_owned),
        headers: headers.iter().map(header).collect(),
        body: read_body(body),
        kind: None,
        rule: None,
        unmatched: None,
    }
}

fn read_body(body: &Bytes) -> Value {
    if body.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()))
}

fn model_request(record: &RecordedRequest) -> ModelRequest {
    let mut request = ModelRequest::new(record.body.clone());
    request.headers.clone_from(&record.headers);
    request
}
