//! Answers to control requests of the host.

use falconer_protocol::RequestId;
use falconer_protocol::control::{
    ControlError, ControlReply, ControlRequest, ControlResponse, ControlSuccess, EngineRequest,
    InitializeResponse,
};
use serde::Serialize;
use serde_json::Value;

/// What a control request comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    /// Done, nothing to say.
    Done,
    /// Done, with a payload.
    Success(Value),
    /// The answer to `initialize`, with the questions that are still open.
    Introduction {
        payload: Box<InitializeResponse>,
        open_questions: Vec<ControlRequest>,
    },
    Failure(Failure),
}

/// Why a control request failed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Failure {
    pub(crate) error: String,
    pub(crate) code: Option<&'static str>,
    /// The model that stays in use.
    pub(crate) model: Option<String>,
}

impl Reply {
    /// Makes a success with a payload.
    pub(crate) fn success(payload: &impl Serialize) -> Self {
        match serde_json::to_value(payload) {
            Ok(payload) => Self::Success(payload),
            Err(error) => Self::failure(error.to_string()),
        }
    }

    pub(crate) fn failure(error: impl Into<String>) -> Self {
        Self::Failure(Failure {
            error: error.into(),
            ..Failure::default()
        })
    }

    pub(crate) fn coded(code: &'static str, error: impl Into<String>) -> Self {
        Self::Failure(Failure {
            error: error.into(),
            code: Some(code),
            ..Failure::default()
        })
    }

    /// For subtypes this engine does not know or cannot do.
    pub(crate) fn unsupported(subtype: &str) -> Self {
        Self::coded(
            "unsupported_request",
            format!("Unsupported control request subtype: {subtype}"),
        )
    }

    /// The line; a request without an id gets an answer without one.
    pub(crate) fn frame(self, request_id: Option<&Value>) -> ControlResponse {
        let mut reply = match self {
            Self::Done => ControlReply::Success(ControlSuccess::default()),
            Self::Success(payload) => ControlReply::Success(ControlSuccess {
                response: Some(payload),
                ..ControlSuccess::default()
            }),
            Self::Introduction {
                payload,
                open_questions,
            } => match serde_json::to_value(&payload) {
                Ok(payload) => ControlReply::Success(introduction(payload, open_questions)),
                Err(error) => return Self::failure(error.to_string()).frame(request_id),
            },
            Self::Failure(failure) => ControlReply::Error(ControlError {
                error: failure.error,
                error_code: failure.code.map(str::to_owned),
                model: failure.model,
                ..ControlError::default()
            }),
        };
        let (id, extra) = match &mut reply {
            ControlReply::Success(reply) => (&mut reply.request_id, &mut reply.extra),
            ControlReply::Error(reply) => (&mut reply.request_id, &mut reply.extra),
            _ => return ControlResponse::from(reply),
        };
        match request_id {
            Some(Value::String(text)) => *id = Some(RequestId::new(text)),
            // A host that counts its requests gets its numbers back.
            Some(other) => {
                extra.insert("request_id", other.clone());
            }
            None => {}
        }
        ControlResponse::from(reply)
    }
}

fn introduction(payload: Value, open_questions: Vec<ControlRequest>) -> ControlSuccess {
    let (mut permissions, mut dialogs) = (Vec::new(), Vec::new());
    for question in open_questions {
        match question.request {
            EngineRequest::CanUseTool(_) => permissions.push(question),
            EngineRequest::RequestUserDialog(_) => dialogs.push(question),
            _ => {}
        }
    }
    ControlSuccess {
        response: Some(payload),
        pending_permission_requests: Some(permissions),
        pending_user_dialog_requests: Some(dialogs),
        ..ControlSuccess::default()
    }
}
