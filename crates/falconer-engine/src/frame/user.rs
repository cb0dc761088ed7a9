//! `user` lines: tool results, injected text, echoes of prompts.

use falconer_protocol::ToolUseId;
use serde_json::{Map, Value, json};

/// How a tool result came about, for `tool_result_meta`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResultMeta {
    /// Why the tool did not run.
    pub(crate) non_execution: Option<&'static str>,
    pub(crate) decision: Option<Decision>,
}

/// Who decided about the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) accepted: bool,
    pub(crate) source: &'static str,
    pub(crate) reason_type: Option<String>,
}

impl ResultMeta {
    fn value(&self, id: &ToolUseId) -> Option<Value> {
        if *self == Self::default() {
            return None;
        }
        let mut meta = Map::new();
        meta.insert("id".to_owned(), json!(id));
        if let Some(kind) = self.non_execution {
            meta.insert("non_execution_kind".to_owned(), json!(kind));
        }
        if let Some(decision) = &self.decision {
            let word = if decision.accepted {
                "accept"
            } else {
                "reject"
            };
            let mut value = json!({"decision": word, "source": decision.source});
            if let Some(reason) = &decision.reason_type {
                value["reason_type"] = json!(reason);
            }
            meta.insert("permission_decision".to_owned(), value);
        }
        Some(json!([meta]))
    }
}

/// The `tool_result` block of a call, for the line and for the next request.
pub(crate) fn tool_result_block(id: &ToolUseId, content: &Value, is_error: bool) -> Value {
    let mut block = json!({"tool_use_id": id, "type": "tool_result", "content": content});
    if is_error {
        block["is_error"] = Value::Bool(true);
    }
    block
}

/// The line of a tool result.
pub(crate) fn tool_result(
    block: &Value,
    id: &ToolUseId,
    output: Option<&Value>,
    meta: &ResultMeta,
) -> Value {
    let mut frame = line(&json!([block]));
    if let Some(output) = output {
        frame["tool_use_result"] = output.clone();
    }
    if let Some(meta) = meta.value(id) {
        frame["tool_result_meta"] = meta;
    }
    frame
}

/// A plain text the engine puts into the conversation, such as the note about an interrupt.
pub(crate) fn text(text: &str) -> Value {
    line(&json!([{"type": "text", "text": text}]))
}

/// A text the engine wrote to keep the model going.
pub(crate) fn synthetic(text: &str) -> Value {
    let mut frame = self::text(text);
    frame["isSynthetic"] = Value::Bool(true);
    frame
}

/// The echo of a prompt or of a command's output.
pub(crate) fn replay(content: &Value) -> Value {
    let mut frame = line(content);
    frame["isReplay"] = Value::Bool(true);
    frame
}

/// The echo of a prompt that gets no turn of its own. It has no time.
pub(crate) fn echo(content: &Value) -> Value {
    json!({
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": null,
        "isReplay": true,
    })
}

fn line(content: &Value) -> Value {
    json!({
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": null,
        "timestamp": now(),
    })
}

/// The time of a line, as the CLI writes it.
pub(crate) fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string()
}
