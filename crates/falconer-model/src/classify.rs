//! What an answer that is no success means: pure, from status, headers and body.

use std::time::Duration;

use serde_json::Value;

use crate::{ApiFailure, FailureKind};

/// How much of an answer that is not the API's is shown.
const SHOWN: usize = 300;

/// Reads an answer whose status is not a success.
pub(crate) fn from_status(
    status: u16,
    header: impl Fn(&str) -> Option<String>,
    body: &[u8],
) -> ApiFailure {
    let answer = ErrorBody::read(body);
    let message = match &answer.message {
        Some(message) => message.clone(),
        None => describe(status, body),
    };
    ApiFailure {
        kind: kind_of(Some(status), answer.kind.as_deref(), &message),
        status: Some(status),
        error_type: answer.kind,
        message,
        retry_after: retry_after(&header),
        should_retry: header("x-should-retry").and_then(|value| value.parse().ok()),
        request_id: header("request-id")
            .or_else(|| header("x-request-id"))
            .or_else(|| header("x-amzn-requestid"))
            .or(answer.request_id),
    }
}

/// Reads the `error` of an `error` event in the middle of a stream.
pub(crate) fn from_event(error: &Value) -> ApiFailure {
    let error_type = error["type"].as_str().map(str::to_owned);
    let message = match (error["message"].as_str(), &error_type) {
        (Some(message), _) => message.to_owned(),
        (None, Some(kind)) => kind.replace('_', " "),
        (None, None) => "the API reported an error in the middle of the answer".to_owned(),
    };
    ApiFailure {
        kind: kind_of(None, error_type.as_deref(), &message),
        error_type,
        ..ApiFailure::new(FailureKind::Server, message)
    }
}

/// What the API, or something that resembles it, says in the body.
#[derive(Debug, Default)]
struct ErrorBody {
    kind: Option<String>,
    message: Option<String>,
    request_id: Option<String>,
}

impl ErrorBody {
    fn read(body: &[u8]) -> Self {
        let Ok(body) = serde_json::from_slice::<Value>(body) else {
            return Self::default();
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let error = &body["error"];
        Self {
            kind: text(&error["type"]),
            // Gateways put the text at several places.
            message: text(&error["message"])
                .or_else(|| text(error))
                .or_else(|| text(&body["message"]))
                .or_else(|| text(&body["detail"])),
            request_id: text(&body["request_id"]),
        }
    }
}

fn describe(status: u16, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.chars().take(SHOWN).collect::<String>().as_str() {
        "" => format!("the API answered with status {status} and no text"),
        shown => format!("the API answered with status {status}: {shown}"),
    }
}

/// What the status, the type and the text mean together; the status may be unknown.
fn kind_of(status: Option<u16>, error_type: Option<&str>, message: &str) -> FailureKind {
    let message = message.to_ascii_lowercase();
    if let Some(kind) = kind_by_text(status, error_type, &message) {
        return kind;
    }
    match (status, error_type) {
        (_, Some("overloaded_error")) | (Some(529), _) => FailureKind::Overloaded,
        (Some(401 | 403), _) => FailureKind::Authentication,
        (Some(402), _) => FailureKind::Billing,
        (Some(404), Some("not_found_error")) => FailureKind::ModelNotFound,
        (Some(408), _) => FailureKind::Timeout,
        // The API reports conflicts that pass, and asks to try again.
        (Some(409), _) => FailureKind::Server,
        (Some(413), _) => FailureKind::PromptTooLong,
        (Some(429), _) => FailureKind::RateLimited,
        (Some(400..=499), _) => FailureKind::InvalidRequest,
        (Some(500..), _) => FailureKind::Server,
        // Below 400: a redirect, or something that is no HTTP at all.
        (Some(_), _) => FailureKind::Malformed,
        (None, error_type) => kind_by_type(error_type),
    }
}

fn kind_by_text(
    status: Option<u16>,
    error_type: Option<&str>,
    message: &str,
) -> Option<FailureKind> {
    let invalid =
        status == Some(400) || (status.is_none() && error_type == Some("invalid_request_error"));
    let too_long = [
        "prompt is too long",
        "exceed context limit",
        "input is too long",
    ];
    let billing = ["credit balance", "spend limit", "usage limits", "billing"];
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if (invalid || status == Some(413)) && says(&too_long) {
        Some(FailureKind::PromptTooLong)
    } else if invalid && says(&billing) {
        Some(FailureKind::Billing)
    } else {
        None
    }
}

fn kind_by_type(error_type: Option<&str>) -> FailureKind {
    match error_type {
        Some("authentication_error" | "permission_error") => FailureKind::Authentication,
        Some("billing_error") => FailureKind::Billing,
        Some("rate_limit_error") => FailureKind::RateLimited,
        Some("overloaded_error") => FailureKind::Overloaded,
        Some("not_found_error") => FailureKind::ModelNotFound,
        Some("request_too_large") => FailureKind::PromptTooLong,
        Some("invalid_request_error") => FailureKind::InvalidRequest,
        Some("timeout_error") => FailureKind::Timeout,
        _ => FailureKind::Server,
    }
}

/// How long to wait at least, from `retry-after-ms` or `retry-after` (seconds or a date).
fn retry_after(header: &impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let millis = header("retry-after-ms").and_then(|value| value.trim().parse::<f64>().ok());
    if let Some(millis) = millis {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let value = header("retry-after")?;
    match value.trim().parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => until(value.trim()),
    }
}

fn until(date: &str) -> Option<Duration> {
    let date = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
    let wait = date.duration_since(jiff::Timestamp::now());
    Some(Duration::try_from(wait).unwrap_or_default())
}

#[cfg(test)]
mod tests;
