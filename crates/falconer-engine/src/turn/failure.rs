//! How failures of the API are told to the host: a text in the model's place, and a class.

use falconer_model::{ApiFailure, FailureKind};
use falconer_protocol::message::AssistantError;
use serde_json::{Map, Value, json};

/// A failure in the words of the wire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) text: String,
    /// `error` of the assistant line.
    pub(crate) class: &'static str,
    /// `api_error` of line and result.
    pub(crate) detail: Option<&'static str>,
    pub(crate) terminal_reason: &'static str,
}

/// The class in `api_retry`.
pub(crate) fn retry_class(failure: &ApiFailure) -> AssistantError {
    match failure.kind {
        FailureKind::Authentication => AssistantError::AuthenticationFailed,
        FailureKind::Billing => AssistantError::BillingError,
        FailureKind::RateLimited => AssistantError::RateLimit,
        FailureKind::Overloaded => AssistantError::Overloaded,
        FailureKind::Server => AssistantError::ServerError,
        FailureKind::ModelNotFound => AssistantError::ModelNotFound,
        FailureKind::PromptTooLong => AssistantError::InvalidRequest,
        FailureKind::InvalidRequest
        | FailureKind::Connection
        | FailureKind::Timeout
        | FailureKind::Malformed => AssistantError::Unknown,
    }
}

/// What the host is told when we give up.
pub(crate) fn tell(failure: &ApiFailure, model: &str) -> Told {
    let message = failure.message.trim();
    let status = failure.status.map_or(String::new(), |it| format!("{it} "));
    let told = |text: String, class| Told {
        text,
        class,
        detail: None,
        terminal_reason: "api_error",
    };
    match failure.kind {
        FailureKind::Authentication => authentication(failure, message),
        FailureKind::Billing => told(
            format!("Credit balance is too low: {message}"),
            "billing_error",
        ),
        FailureKind::RateLimited => told(
            format!("API Error: Request rejected (429) · {message}"),
            "rate_limit",
        ),
        FailureKind::Overloaded => told(
            format!("API Error: {status}{message}. The model is overloaded; try again later."),
            "overloaded",
        ),
        FailureKind::Server => told(
            format!(
                "API Error: {status}{message}. This is a fault of the server; try again later."
            ),
            "server_error",
        ),
        FailureKind::ModelNotFound => told(
            format!(
                "The model {model} was not found, or this key may not use it. Choose another one \
                 with --model."
            ),
            "model_not_found",
        ),
        FailureKind::PromptTooLong => Told {
            terminal_reason: "prompt_too_long",
            ..told(format!("Prompt is too long · {message}"), "invalid_request")
        },
        FailureKind::InvalidRequest => told(format!("API Error: {status}{message}"), "unknown"),
        FailureKind::Connection | FailureKind::Timeout => Told {
            detail: Some("connection_failed"),
            ..told(format!("API Error: {message}"), "server_error")
        },
        FailureKind::Malformed => told(format!("API Error: {message}"), "unknown"),
    }
}

fn authentication(failure: &ApiFailure, message: &str) -> Told {
    let text = match failure.status {
        None => "Not logged in · set ANTHROPIC_API_KEY".to_owned(),
        Some(401) => "Invalid API key · check the key that is set".to_owned(),
        Some(status) => format!("Failed to authenticate. API Error: {status} {message}"),
    };
    Told {
        text,
        class: "authentication_failed",
        detail: None,
        terminal_reason: "api_error",
    }
}

/// The fields that line and result share.
pub(crate) fn fields(failure: &ApiFailure, told: &Told) -> Map<String, Value> {
    let mut fields = Map::new();
    if let Some(status) = failure.status {
        fields.insert("api_error_status".to_owned(), json!(status));
    }
    if let Some(kind) = &failure.error_type {
        fields.insert("api_error_type".to_owned(), json!(kind));
    }
    if let Some(detail) = told.detail {
        fields.insert("api_error".to_owned(), json!(detail));
    }
    fields
}
