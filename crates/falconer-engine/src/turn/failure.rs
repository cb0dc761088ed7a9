//! How failures of the API are told to the host: a text in the model's place, and a class.

use falconer_model::{ApiFailure, FailureKind};
use falconer_protocol::message::{AssistantError, TerminalReason};

/// A failure in the words of the wire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) text: String,
    /// `error` of the assistant line.
    pub(crate) class: AssistantError,
    /// `api_error` of line and result.
    pub(crate) detail: Option<&'static str>,
    pub(crate) terminal_reason: TerminalReason,
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
        terminal_reason: TerminalReason::ApiError,
    };
    match failure.kind {
        FailureKind::Authentication => authentication(failure, message),
        FailureKind::Billing => told(
            format!("Credit balance is too low: {message}"),
            AssistantError::BillingError,
        ),
        FailureKind::RateLimited => told(
            format!("API Error: Request rejected (429) · {message}"),
            AssistantError::RateLimit,
        ),
        FailureKind::Overloaded => told(
            format!("API Error: {status}{message}. The model is overloaded; try again later."),
            AssistantError::Overloaded,
        ),
        FailureKind::Server => told(
            format!(
                "API Error: {status}{message}. This is a fault of the server; try again later."
            ),
            AssistantError::ServerError,
        ),
        FailureKind::ModelNotFound => told(
            format!(
                "The model {model} was not found, or this key may not use it. Choose another one \
                 with --model."
            ),
            AssistantError::ModelNotFound,
        ),
        FailureKind::PromptTooLong => Told {
            terminal_reason: TerminalReason::PromptTooLong,
            ..told(
                format!("Prompt is too long · {message}"),
                AssistantError::InvalidRequest,
            )
        },
        FailureKind::InvalidRequest => told(
            format!("API Error: {status}{message}"),
            AssistantError::Unknown,
        ),
        FailureKind::Connection | FailureKind::Timeout => Told {
            detail: Some("connection_failed"),
            ..told(format!("API Error: {message}"), AssistantError::ServerError)
        },
        FailureKind::Malformed => told(format!("API Error: {message}"), AssistantError::Unknown),
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
        class: AssistantError::AuthenticationFailed,
        detail: None,
        terminal_reason: TerminalReason::ApiError,
    }
}
