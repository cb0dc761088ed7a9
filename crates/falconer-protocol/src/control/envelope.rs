//! Envelopes of requests and responses.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{EngineRequest, HostRequest};
use crate::decode::{from_value, read_line};
use crate::error::Error;
use crate::id::RequestId;
use crate::wire::{tagged_enum, wire_struct};

wire_struct! {
    /// A request of the engine. Each must be answered with a [`ControlResponse`].
    pub struct ControlRequest ["type" = "control_request"] {
        /// Id chosen by the engine; the answer has to repeat it.
        pub request_id: RequestId,
        /// The request itself.
        pub request: EngineRequest,
    }
}

impl ControlRequest {
    /// Reads a line that is known to be a request.
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
    /// A request of the host.
    pub struct HostControlRequest ["type" = "control_request"] {
        /// Id chosen by the host; without one, the answer has none either.
        pub request_id ? RequestId,
        /// The request itself.
        pub request: HostRequest,
    }
}

impl HostControlRequest {
    /// Wraps `request`; the answer will carry `request_id`.
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
        /// Request that is taken back. An answer that comes anyway is ignored.
        pub request_id: RequestId,
    }
}

impl ControlCancelRequest {
    /// Takes back the request `request_id`.
    pub fn new(request_id: impl Into<RequestId>) -> Self {
        Self {
            request_id: request_id.into(),
            ..Self::default()
        }
    }
}

wire_struct! {
    /// The answer to a request, from either side.
    pub struct ControlResponse ["type" = "control_response"] {
        /// Success or failure.
        pub response: ControlReply,
    }
}

impl ControlResponse {
    /// Success without a payload.
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

    /// Id of the request that this answers.
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
        /// The request was carried out.
        Success(ControlSuccess) = "success",
        /// The request was not carried out.
        Error(ControlError) = "error",
    }
}

wire_struct! {
    /// The request was carried out.
    pub struct ControlSuccess ["subtype" = "success"] {
        /// Id of the request; absent if the request had none.
        pub request_id ? RequestId,
        /// Payload; absent if the request has none to return.
        pub response ? Value,
        /// Open permission requests, repeated in the answer to `initialize`.
        pub pending_permission_requests ? Vec<ControlRequest>,
        /// Open dialogs, repeated in the answer to `initialize`.
        pub pending_user_dialog_requests ? Vec<ControlRequest>,
        /// Open forms of MCP servers, repeated in the answer to `initialize`.
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
    /// The request was not carried out.
    pub struct ControlError ["subtype" = "error"] {
        /// Id of the request; absent if the request had none.
        pub request_id ? RequestId,
        /// Text for people.
        pub error: String,
        /// Code for programs: `unsupported_request`, `invalid_mode`, `bypass_not_launched` and
        /// others.
        pub error_code ? String,
        /// The model that stays in use, if another one was asked for.
        pub model ? String,
        /// Open permission requests, as in [`ControlSuccess`].
        pub pending_permission_requests ? Vec<ControlRequest>,
        /// Open dialogs, as in [`ControlSuccess`].
        pub pending_user_dialog_requests ? Vec<ControlRequest>,
        /// Open forms of MCP servers, as in [`ControlSuccess`].
        pub pending_elicitation_requests ? Vec<ControlRequest>,
    }
}
