//! A request that failed, and what that means for the loop.

use std::time::Duration;

/// A request that failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ApiFailure {
    pub kind: FailureKind,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// `error.type` of the API.
    pub error_type: Option<String>,
    pub message: String,
    pub retry_after: Option<Duration>,
    /// `x-should-retry`.
    pub should_retry: Option<bool>,
    pub request_id: Option<String>,
}

impl ApiFailure {
    /// A failure without an answer of the API.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            status: None,
            error_type: None,
            message: message.into(),
            retry_after: None,
            should_retry: None,
            request_id: None,
        }
    }

    pub fn malformed(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Malformed, message)
    }

    pub fn connection(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Connection, message)
    }

    pub fn timeout(what: &str, limit: Duration) -> Self {
        let message = format!("{what} for {} s", limit.as_secs_f64());
        Self::new(FailureKind::Timeout, message)
    }

    #[must_use]
    pub fn of_request(mut self, request_id: Option<&str>) -> Self {
        self.request_id = self.request_id.or_else(|| request_id.map(str::to_owned));
        self
    }
}

/// What a failure means for the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// No key, or it was refused. Never retried by us, unlike the CLI.
    Authentication,
    Billing,
    RateLimited,
    Overloaded,
    Server,
    ModelNotFound,
    PromptTooLong,
    InvalidRequest,
    /// No connection, or it broke.
    Connection,
    /// Nothing came for too long.
    Timeout,
    /// An answer that is not the protocol.
    Malformed,
}
