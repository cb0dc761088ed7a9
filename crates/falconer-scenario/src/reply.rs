//! The replies of rules: a message, an API error, or a fault of the connection.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::message::MessageReply;

/// The reply of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reply {
    /// A message that is only a text; short for [`Reply::Message`].
    Text(String),
    /// A message of the model.
    Message(MessageReply),
    /// The request fails with an HTTP status.
    Error(ApiError),
    /// No answer until the gate `hang` is released; then the connection is reset.
    Hang,
    /// The connection is reset before the first byte of an answer.
    Reset,
    /// Success, and then these bytes, which are no answer at all.
    Garbage(String),
}

impl From<MessageReply> for Reply {
    fn from(message: MessageReply) -> Self {
        Self::Message(message)
    }
}

impl From<ApiError> for Reply {
    fn from(error: ApiError) -> Self {
        Self::Error(error)
    }
}

/// An error as the Messages API reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// The error type; without it the one the API uses with the status.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The text; without it the type in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The `retry-after` header, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// More headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

impl ApiError {
    /// The error the API reports with this status.
    pub fn new(status: u16) -> Self {
        Self {
            status,
            kind: None,
            message: None,
            retry_after: None,
            headers: BTreeMap::new(),
        }
    }

    /// Sets the error type.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// Sets the text.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets the `retry-after` header.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// The error type, given or implied by the status.
    pub fn kind_or_default(&self) -> &str {
        self.kind.as_deref().unwrap_or(match self.status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            504 => "timeout_error",
            529 => "overloaded_error",
            _ => "api_error",
        })
    }

    /// The body of the answer, and the data of a mid-stream `error` event.
    pub fn body(&self) -> Value {
        let kind = self.kind_or_default();
        let message = match &self.message {
            Some(message) => message.clone(),
            None => kind.replace('_', " "),
        };
        json!({"type": "error", "error": {"type": kind, "message": message}})
    }
}
