//! What surrounds questions and answers.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{EngineRequest, HostRequest};
use crate::decode::{from_value, read_line};
use crate::error::Error;
use crate::id::RequestId;
use crate::wire::{tagged_enum, wire_struct};

wire_struct! {
    /// A question of the engine. Each must be answered, with [`ControlResponse`].
    pub struct ControlRequest ["type" = "control_request"] {
        pub request_id: RequestId,
        pub request: EngineRequest,
    }
}

impl ControlRequest {
    /// Reads a line that is known to be a question.
    ///
    /// Much quicker than a general deserializer. Fails if a field is missing or does not fit.
    ///
    /// ```
    /// use falconer_protocol::control::ControlRequest;
    ///
    /// let line = br#"{"type":"control_request","request_id":"7","request":{"subtype":"x"}}"#;
    /// assert_eq!(ControlRequest::decode(line)?.request_id, "7");
    /// # Ok::<(), falconer_protocol::Error>(())
    /// ```
    pub fn decode(line: &[u8]) -> Result<Self, Error> {
        read_line(line).map_err(Error::Payload)
    }
}

wire_struct! {
    /// A question of the host.
    pub struct HostControlRequest ["type" = "control_request"] {
        /// Without one, the answer has none either.
        pub request_id ? RequestId,
        pub request: HostRequest,
    }
}

impl HostControlRequest {
    /// The question `request`; the answer will carry `request_id`.
    pub fn new(request_id: impl Into<RequestId>, request: impl Into<HostRequest>) -> Self {
        Self {
            request_id: Some(request_id.into()),
            request: request.into(),
            ..Self::default()
        }
    }
}

wire_struct! {
    /// The sender no longer wants an answer. There is no reply to this.
    pub struct ControlCancelRequest ["type" = "control_cancel_request"] {
        pub request_id: RequestId,
    }
}

impl ControlCancelRequest {
    /// Takes back the question `request_id`.
    pub fn new(request_id: impl Into<RequestId>) -> Self {
        Self {
            request_id: request_id.into(),
            ..Self::default()
        }
    }
}

wire_struct! {
    /// An answer, of either side.
    pub struct ControlResponse ["type" = "control_response"] {
        pub response: ControlReply,
    }
}

impl ControlResponse {
    /// Success, with nothing to say.
    pub fn done(request_id: impl Into<RequestId>) -> Self {
        Self::from(ControlReply::Success(ControlSuccess {
            request_id: Some(request_id.into()),
            ..ControlSuccess::default()
        }))
    }

    /// Success, with a payload.
    pub fn success(
        request_id: impl Into<RequestId>,
        payload: &impl Serialize,
    ) -> Result<Self, Error> {
        Ok(Self::from(ControlReply::Success(ControlSuccess {
            request_id: Some(request_id.into()),
            response: Some(serde_json::to_value(payload).map_err(Error::Encode)?),
            ..ControlSuccess::default()
        })))
    }

    /// Failure, with a text for people.
    pub fn error(request_id: impl Into<RequestId>, error: impl Into<String>) -> Self {
        Self::from(ControlReply::Error(ControlError {
            request_id: Some(request_id.into()),
            error: error.into(),
            ..ControlError::default()
        }))
    }

    /// The question it answers.
    pub fn request_id(&self) -> Option<&str> {
        match &self.response {
            ControlReply::Success(reply) => reply.request_id.as_ref().map(RequestId::as_str),
            ControlReply::Error(reply) => reply.request_id.as_ref().map(RequestId::as_str),
            ControlReply::Unknown(object) => object.get("request_id")?.as_str(),
        }
    }
}

impl From<ControlReply> for ControlResponse {
    fn from(response: ControlReply) -> Self {
        Self {
            response,
            ..Self::default()
        }
    }
}

tagged_enum! {
    /// Success or failure.
    pub enum ControlReply by "subtype" {
        /// It was done.
        Success(ControlSuccess) = "success",
        /// It was not done.
        Error(ControlError) = "error",
    }
}

wire_struct! {
    /// It was done.
    pub struct ControlSuccess ["subtype" = "success"] {
        pub request_id ? RequestId,
        /// What there is to say; missing if nothing.
        pub response ? Value,
        pub pending_permission_requests ? Vec<ControlRequest>,
        pub pending_user_dialog_requests ? Vec<ControlRequest>,
        pub pending_elicitation_requests ? Vec<ControlRequest>,
    }
}

impl ControlSuccess {
    /// Reads the payload; a missing one reads as an empty object.
    pub fn payload<T: DeserializeOwned>(self) -> Result<T, Error> {
        from_value(
            self.response
                .unwrap_or_else(|| Value::Object(Default::default())),
        )
    }
}

wire_struct! {
    /// It was not done.
    pub struct ControlError ["subtype" = "error"] {
        pub request_id ? RequestId,
        pub error: String,
        /// `unsupported_request`, `invalid_mode`, `bypass_not_launched` and others.
        pub error_code ? String,
        pub pending_permission_requests ? Vec<ControlRequest>,
        pub pending_user_dialog_requests ? Vec<ControlRequest>,
        pub pending_elicitation_requests ? Vec<ControlRequest>,
    }
}
