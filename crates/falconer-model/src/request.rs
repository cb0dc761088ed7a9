//! A request in the ways it can be sent and looked into.

use falconer_scenario::ModelRequest;

use crate::body::{JsonText, RequestBody};
use crate::{ApiFailure, FailureKind};

/// One request: the JSON body and the beta names for the header.
///
/// A clone shares the text of the body.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    /// The body.
    pub body: RequestBody,
    /// For the header `anthropic-beta`.
    pub betas: Vec<String>,
}

impl ApiRequest {
    /// The same request for an answer in events.
    #[must_use]
    pub(crate) fn streamed(mut self) -> Self {
        self.body.set("stream", JsonText::of(true));
        self
    }

    /// The same request for an answer in one piece.
    #[must_use]
    pub(crate) fn not_streamed(mut self) -> Self {
        self.body.remove("stream");
        self
    }
}

/// Reads a body as scenarios look at it.
pub(crate) fn read(body: &RequestBody) -> Result<ModelRequest, ApiFailure> {
    body.to_value().map(ModelRequest::new).map_err(unreadable)
}

/// A body that is not JSON.
#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
pub(crate) fn unreadable(error: serde_json::Error) -> ApiFailure {
    let text = format!("the request is not valid JSON: {error}");
    ApiFailure::new(FailureKind::InvalidRequest, text)
}
