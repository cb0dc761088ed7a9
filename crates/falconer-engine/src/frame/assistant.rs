//! `assistant` lines: finished blocks of the model, and texts the engine writes in its place.

use falconer_protocol::MessageUuid;
use serde_json::{Map, Value, json};

use crate::tool::ToolOrigin;

/// The model's name on lines the engine wrote.
pub(crate) const SYNTHETIC: &str = "<synthetic>";

/// What the lines of one API response share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    /// The message as `message_start` had it, without content.
    pub(crate) message: Map<String, Value>,
    pub(crate) request_id: Option<String>,
    pub(crate) delivery: Delivery,
}

/// How a response came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// In events: its lines are shown before it is known how it ends.
    #[default]
    Streamed,
    /// In one piece: its lines say how it ended.
    Whole,
}

/// What only some lines have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    /// The prompts behind the turn; only on its first line.
    pub(crate) prompts: Vec<MessageUuid>,
    /// The turn was interrupted in the middle of this block.
    pub(crate) aborted: bool,
    pub(crate) supersedes: Vec<MessageUuid>,
    pub(crate) thinking_ms: Option<u64>,
    pub(crate) thinking_display: Option<String>,
    /// What people call the tool of a server.
    pub(crate) tool: Option<ToolOrigin>,
}

/// One finished block.
pub(crate) fn block(head: &Head, block: &Value, marks: &Marks) -> Value {
    let mut message = head.message.clone();
    message.insert("content".to_owned(), json!([block]));
    if head.delivery == Delivery::Streamed {
        message.insert("stop_reason".to_owned(), Value::Null);
        message.insert("stop_sequence".to_owned(), Value::Null);
    }
    message
        .entry("context_management".to_owned())
        .or_insert(Value::Null);
    let mut frame = line(&Value::Object(message));
    if let Some(id) = &head.request_id {
        frame["request_id"] = json!(id);
    }
    mark(&mut frame, marks);
    if let Some(tool) = &marks.tool {
        frame["tool_use_meta"] = tool_meta(&block["id"], tool);
    } else if let Some(name) = absent_tool(block) {
        let meta = json!([{"id": block["id"], "display_name": crate::mcp::readable(name)}]);
        frame["tool_use_meta"] = meta;
    }
    frame
}

/// The name of a server's tool that is not there.
fn absent_tool(block: &Value) -> Option<&str> {
    let name = block.get("name").filter(|_| block["type"] == "tool_use")?;
    let (_, own_name) = name.as_str()?.strip_prefix("mcp__")?.split_once("__")?;
    Some(own_name)
}

fn tool_meta(id: &Value, tool: &ToolOrigin) -> Value {
    json!([{
        "id": id,
        "display_name": tool.title,
        "server_display_name": tool.server,
        "tool_name": tool.own_name,
    }])
}

fn mark(frame: &mut Value, marks: &Marks) {
    if let Some(ms) = marks.thinking_ms {
        frame["thinking_duration_ms"] = json!(ms);
        if let Some(display) = &marks.thinking_display {
            frame["thinking_display"] = json!(display);
        }
    }
    if marks.aborted {
        frame["aborted"] = Value::Bool(true);
    }
    if !marks.supersedes.is_empty() {
        frame["supersedes"] = json!(marks.supersedes);
    }
    mark_prompts(frame, &marks.prompts);
}

/// Says which prompts a line answers; of several, the last one stands for all.
pub(crate) fn mark_prompts(frame: &mut Value, prompts: &[MessageUuid]) {
    if let Some(last) = prompts.last() {
        frame["user_message_uuid"] = json!(last);
        frame["user_message_uuids"] = json!(prompts);
    }
}

/// A text of the engine in the model's place, with further fields beside the message.
pub(crate) fn synthetic(text: &str, stop: &SyntheticStop, beside: Map<String, Value>) -> Value {
    let mut frame = line(&json!({
        "id": uuid::Uuid::new_v4().to_string(),
        "type": "message",
        "role": "assistant",
        "model": SYNTHETIC,
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop.reason,
        "stop_sequence": stop.sequence,
        "stop_details": stop.details,
        "usage": zero_usage(),
        "container": null,
        "context_management": null,
        "diagnostics": null,
    }));
    if let Value::Object(frame) = &mut frame {
        frame.extend(beside);
    }
    frame
}

/// How a synthetic message says that it ended.
#[derive(Debug, Clone)]
pub(crate) struct SyntheticStop {
    pub(crate) reason: &'static str,
    pub(crate) sequence: Option<&'static str>,
    pub(crate) details: Value,
}

impl SyntheticStop {
    /// The end of an error text.
    pub(crate) fn error() -> Self {
        Self {
            reason: "stop_sequence",
            sequence: Some(""),
            details: Value::Null,
        }
    }

    /// The end of a refusal.
    pub(crate) fn refusal(details: Value) -> Self {
        Self {
            reason: "refusal",
            sequence: Some(""),
            details,
        }
    }

    /// The end of a command's output.
    pub(crate) fn command() -> Self {
        Self {
            reason: "end_turn",
            sequence: None,
            details: Value::Null,
        }
    }
}

fn zero_usage() -> Value {
    json!({
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens_details": null,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": null,
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
        "inference_geo": null,
        "iterations": null,
        "speed": null,
        "fallback_credit": null,
    })
}

fn line(message: &Value) -> Value {
    json!({
        "type": "assistant",
        "message": message,
        "parent_tool_use_id": null,
        "timestamp": super::user::now(),
    })
}
