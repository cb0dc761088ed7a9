//! Answers to the engine's requests, and the safe ones for requests that nobody can answer.

use bytes::Bytes;
use falconer_protocol::control::{ControlResponse, EngineRequest};
use falconer_protocol::hook::{HookEvent, HookOutput};
use falconer_protocol::to_line;
use serde::Serialize;
use serde_json::{Value, json};

use crate::elicitation::{DialogAnswer, ElicitationAnswer};
use crate::handlers::Handlers;
use crate::hook::OnFailure;
use crate::permission::Decision;

/// The answer to one request of the engine.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// The payload of a success.
    Success(Value),
    /// An error text.
    Error(String),
}

impl Reply {
    pub(super) fn success(payload: impl Serialize) -> Self {
        match serde_json::to_value(payload) {
            Ok(value) => Self::Success(value),
            Err(error) => Self::Error(format!("failed to encode the answer: {error}")),
        }
    }

    /// The line that carries this answer.
    pub(super) fn into_line(self, request_id: &str) -> Bytes {
        let encoded = match self {
            Self::Success(value) => ControlResponse::success(request_id, &value),
            Self::Error(text) => Ok(ControlResponse::error(request_id, text)),
        };
        line_of(encoded.and_then(|response| to_line(&response)))
    }

    /// The answer when the handler is missing, failed, or ran out of time: `why` says which.
    pub(super) fn safe(request: &EngineRequest, handlers: &Handlers, why: &str) -> Self {
        match request {
            EngineRequest::CanUseTool(ask) => Self::success(Decision::deny(why).into_wire(ask)),
            EngineRequest::HookCallback(call) => match handlers.hook(call.callback_id.as_str()) {
                Some(hook) => Self::failed_hook(&hook.event, hook.on_failure, why),
                None => Self::Error(format!(
                    "unknown hook callback `{}`",
                    call.callback_id.as_str()
                )),
            },
            EngineRequest::McpMessage(message) => Self::failed_mcp(&message.message, why),
            EngineRequest::Elicitation(_) => Self::Success(ElicitationAnswer::Cancel.into_wire()),
            EngineRequest::RequestUserDialog(_) => {
                Self::Success(DialogAnswer::Cancelled.into_wire())
            }
            other => Self::Error(format!(
                "unsupported control request subtype: {}",
                other.tag().unwrap_or("(none)")
            )),
        }
    }

    fn failed_hook(event: &HookEvent, policy: OnFailure, why: &str) -> Self {
        match (policy, event) {
            (OnFailure::DenyTools | OnFailure::Block, HookEvent::PreToolUse) => {
                Self::success(HookOutput::deny_tool(why))
            }
            (OnFailure::Block, HookEvent::UserPromptSubmit) => {
                Self::success(HookOutput::block(why))
            }
            // The engine was told to block when the callback fails.
            (OnFailure::Block, _) => Self::Error(why.to_owned()),
            (OnFailure::DenyTools | OnFailure::Continue, _) => Self::Success(json!({})),
        }
    }

    fn failed_mcp(message: &Value, why: &str) -> Self {
        match message.get("id") {
            Some(id) => Self::mcp(&json!({
                "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": why },
            })),
            None => Self::mcp_notification(),
        }
    }

    pub(super) fn mcp(response: &Value) -> Self {
        Self::Success(json!({ "mcp_response": response }))
    }

    /// Notifications need an answer as well, or the engine takes the server for dead.
    pub(super) fn mcp_notification() -> Self {
        Self::mcp(&json!({ "jsonrpc": "2.0", "result": {}, "id": 0 }))
    }
}

/// The encoded line. Encoding our own types cannot fail: they have string keys and no
/// custom serializers that refuse.
pub(super) fn line_of(encoded: Result<Bytes, falconer_protocol::Error>) -> Bytes {
    encoded.unwrap_or_else(|error| {
        tracing::error!(%error, "a line could not be encoded");
        Bytes::from_static(b"\n")
    })
}
