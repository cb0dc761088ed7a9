//! `stream_event` lines and what comes with them; only with partial messages switched on.

use falconer_protocol::MessageUuid;
use serde_json::{Value, json};

/// One event of the API, as it came.
pub(crate) fn event(event: &Value, api_message_id: Option<&str>) -> Value {
    let mut frame = json!({"type": "stream_event", "event": event, "parent_tool_use_id": null});
    if let Some(id) = api_message_id {
        frame["api_message_id"] = json!(id);
    }
    frame
}

/// What the first event of a response says beyond the event.
pub(crate) fn mark_start(frame: &mut Value, ttft_ms: u64, prompts: &[MessageUuid]) {
    frame["ttft_ms"] = json!(ttft_ms);
    super::assistant::mark_prompts(frame, prompts);
    if !prompts.is_empty() {
        frame["owed_rows"] = json!([]);
    }
}

pub(crate) fn mark_display(frame: &mut Value, display: Option<&str>) {
    if let Some(display) = display {
        frame["thinking_display"] = json!(display);
    }
}

pub(crate) fn block_stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

/// The end of a message that was cut off, as the API would have told it.
pub(crate) fn cut_delta(usage: &Value) -> Value {
    let mut told = json!({
        "output_tokens_details": {"thinking_tokens": 0},
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "iterations": [],
        "fallback_credit": null,
    });
    if let (Some(told), Some(usage)) = (told.as_object_mut(), usage.as_object()) {
        told.extend(usage.clone());
    }
    json!({
        "type": "message_delta",
        "context_management": null,
        "delta": {
            "container": null,
            "stop_details": null,
            "stop_reason": null,
            "stop_sequence": null,
        },
        "usage": told,
    })
}

pub(crate) fn message_stop() -> Value {
    json!({"type": "message_stop"})
}

pub(crate) fn mark_abandoned(frame: &mut Value, api_message_id: &str, from_block: u64) {
    frame["abandoned_blocks"] =
        json!({"api_message_id": api_message_id, "from_block_index": from_block});
}

pub(crate) fn requesting(prompts: &[MessageUuid]) -> Value {
    let mut frame = super::system::status(&json!("requesting"));
    if !prompts.is_empty() {
        frame["user_message_uuids"] = json!(prompts);
    }
    frame
}

pub(crate) fn thinking_tokens(total: u64, delta: u64, prompts: &[MessageUuid]) -> Value {
    let mut frame = json!({
        "type": "system",
        "subtype": "thinking_tokens",
        "estimated_tokens": total,
        "estimated_tokens_delta": delta,
    });
    if let Some(last) = prompts.last() {
        frame["user_message_uuid"] = json!(last);
    }
    frame
}
