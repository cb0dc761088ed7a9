//! Answers to control requests of the host.

use serde_json::{Map, Value, json};

/// What a control request comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    /// Done, nothing to say.
    Done,
    /// Done, with a payload.
    Success(Value),
    /// The answer to `initialize`, with the questions that are still open.
    Introduction {
        payload: Value,
        open_questions: Vec<Value>,
    },
    Failure(Failure),
}

/// Why a control request failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) error: String,
    pub(crate) code: Option<&'static str>,
    /// Fields beside the error.
    pub(crate) beside: Map<String, Value>,
}

impl Reply {
    pub(crate) fn failure(error: impl Into<String>) -> Self {
        Self::Failure(Failure {
            error: error.into(),
            code: None,
            beside: Map::new(),
        })
    }

    pub(crate) fn coded(code: &'static str, error: impl Into<String>) -> Self {
        Self::Failure(Failure {
            error: error.into(),
            code: Some(code),
            beside: Map::new(),
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
    pub(crate) fn frame(self, request_id: Option<&Value>) -> Value {
        let mut body = Map::new();
        let word = match self {
            Self::Failure(_) => "error",
            Self::Done | Self::Success(_) | Self::Introduction { .. } => "success",
        };
        body.insert("subtype".to_owned(), json!(word));
        if let Some(id) = request_id {
            body.insert("request_id".to_owned(), id.clone());
        }
        match self {
            Self::Done => {}
            Self::Success(payload) => {
                body.insert("response".to_owned(), payload);
            }
            Self::Introduction {
                payload,
                open_questions,
            } => {
                body.insert("response".to_owned(), payload);
                let asks = |it: &&Value| it["request"]["subtype"] == "can_use_tool";
                let open: Vec<&Value> = open_questions.iter().filter(asks).collect();
                body.insert("pending_permission_requests".to_owned(), json!(open));
                let dialogs = |it: &&Value| it["request"]["subtype"] == "request_user_dialog";
                let open: Vec<&Value> = open_questions.iter().filter(dialogs).collect();
                body.insert("pending_user_dialog_requests".to_owned(), json!(open));
            }
            Self::Failure(failure) => {
                body.insert("error".to_owned(), json!(failure.error));
                if let Some(code) = failure.code {
                    body.insert("error_code".to_owned(), json!(code));
                }
                body.extend(failure.beside);
            }
        }
        json!({"type": "control_response", "response": body})
    }
}
