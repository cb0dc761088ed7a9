//! `system` lines without a family of their own.

use falconer_protocol::{MessageUuid, ToolUseId};
use serde_json::{Map, Value, json};

pub(crate) fn status(status: &Value) -> Value {
    json!({"type": "system", "subtype": "status", "status": status})
}

/// The permission mode changed.
pub(crate) fn mode_changed(mode: &str) -> Value {
    let mut frame = status(&Value::Null);
    frame["permissionMode"] = json!(mode);
    frame
}

pub(crate) fn session_state(state: &str) -> Value {
    json!({"type": "system", "subtype": "session_state_changed", "state": state})
}

/// A request failed and will be tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiRetry<'a> {
    pub(crate) attempt: u32,
    pub(crate) max_retries: u32,
    pub(crate) delay_ms: u64,
    pub(crate) status: Option<u16>,
    pub(crate) error: &'a str,
}

pub(crate) fn api_retry(retry: &ApiRetry<'_>) -> Value {
    json!({
        "type": "system",
        "subtype": "api_retry",
        "attempt": retry.attempt,
        "max_retries": retry.max_retries,
        "retry_delay_ms": retry.delay_ms,
        "error_status": retry.status,
        "error": retry.error,
    })
}

/// Another model takes over because the first is overloaded or gone.
pub(crate) fn model_fallback(trigger: &str, from: &str, to: &str) -> Value {
    json!({
        "type": "system",
        "subtype": "model_fallback",
        "trigger": trigger,
        "original_model": from,
        "fallback_model": to,
        "content": format!("{from} is not available right now; going on with {to}"),
    })
}

/// What the API said about a refusal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusal {
    pub(crate) details: Value,
    pub(crate) prompt: Option<MessageUuid>,
    pub(crate) request_id: Option<String>,
}

impl Refusal {
    fn fields(&self, subtype: &str, from: &str) -> Value {
        let mut frame = json!({
            "type": "system",
            "subtype": subtype,
            "original_model": from,
            "api_refusal_category": self.details.get("category"),
            "api_refusal_explanation": self.details.get("explanation"),
            "refused_user_message_uuid": self.prompt,
        });
        frame["request_id"] = json!(self.request_id);
        frame
    }

    pub(crate) fn fallback(&self, from: &str, to: &str, retracted: &[MessageUuid]) -> Value {
        let mut frame = self.fields("model_refusal_fallback", from);
        frame["trigger"] = json!("refusal");
        frame["direction"] = json!("retry");
        frame["scope"] = json!("session");
        frame["fallback_model"] = json!(to);
        frame["retracted_message_uuids"] = json!(retracted);
        frame["content"] = json!(format!("{from} declined to answer; asking {to} instead"));
        frame
    }

    pub(crate) fn no_fallback(&self, from: &str) -> Value {
        let mut frame = self.fields("model_refusal_no_fallback", from);
        frame["content"] = json!("");
        frame
    }
}

/// A call was denied, and nobody could be asked.
pub(crate) fn permission_denied(
    tool: &str,
    id: &ToolUseId,
    message: &str,
    reason_type: Option<&str>,
    reason: Option<&str>,
) -> Value {
    let mut frame = json!({
        "type": "system",
        "subtype": "permission_denied",
        "tool_name": tool,
        "tool_use_id": id,
    });
    if let Some(reason_type) = reason_type {
        frame["decision_reason_type"] = json!(reason_type);
    }
    if let Some(reason) = reason {
        frame["decision_reason"] = json!(reason);
    }
    frame["message"] = json!(message);
    frame
}

pub(crate) fn informational(content: &str, level: &str) -> Value {
    json!({"type": "system", "subtype": "informational", "content": content, "level": level})
}

/// A server is done with what it sent the user to a page for.
pub(crate) fn elicitation_complete(server: &str, id: &str) -> Value {
    json!({"type": "system", "subtype": "elicitation_complete", "mcp_server_name": server,
        "elicitation_id": id})
}

/// A prompt did not pass the hooks.
pub(crate) fn prompt_blocked(content: &str, outcome: Map<String, Value>) -> Value {
    let mut frame = informational(content, "warning");
    frame["prevent_continuation"] = Value::Bool(true);
    frame["prompt_submit_outcome"] = Value::Object(outcome);
    frame
}

pub(crate) fn notification(key: &str, text: &str) -> Value {
    json!({
        "type": "system",
        "subtype": "notification",
        "key": key,
        "text": text,
        "priority": "immediate",
    })
}

pub(crate) fn title_changed(title: &str) -> Value {
    json!({"type": "system", "subtype": "session_title_changed", "title": title})
}

pub(crate) fn request_progress(request_id: &Value, status: &str) -> Value {
    json!({
        "type": "system",
        "subtype": "control_request_progress",
        "request_id": request_id,
        "status": status,
    })
}
