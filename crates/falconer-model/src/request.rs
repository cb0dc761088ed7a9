//! A request in the two ways it can be sent.

use serde_json::Value;

use crate::ApiRequest;

impl ApiRequest {
    /// The same request for an answer in events.
    #[must_use]
    pub(crate) fn streamed(mut self) -> Self {
        if let Value::Object(body) = &mut self.body {
            body.insert("stream".to_owned(), Value::Bool(true));
        }
        self
    }

    /// The same request for an answer in one piece.
    #[must_use]
    pub(crate) fn not_streamed(mut self) -> Self {
        if let Value::Object(body) = &mut self.body {
            body.shift_remove("stream");
        }
        self
    }
}
