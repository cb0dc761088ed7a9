//! What becomes of prompts, conversations and running tools.

use falconer_protocol::{MessageUuid, ToolUseId};
use serde_json::{Value, json};

/// Where a prompt with a uuid is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Queued,
    Started,
    Completed,
    Cancelled,
}

impl Stage {
    fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Started => "started",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }
}

pub(crate) fn command(uuid: &MessageUuid, stage: Stage) -> Value {
    json!({"type": "command_lifecycle", "command_uuid": uuid, "state": stage.word()})
}

pub(crate) fn conversation_reset(new: &MessageUuid, prompt: &MessageUuid) -> Value {
    json!({
        "type": "conversation_reset",
        "new_conversation_id": new,
        "trigger": "clear",
        "user_message_uuid": prompt,
        "timestamp": super::user::now(),
    })
}

/// A tool is still running; sent every half minute.
pub(crate) fn tool_progress(id: &ToolUseId, tool: &str, seconds: u64, beat: u64) -> Value {
    json!({
        "type": "tool_progress",
        "tool_use_id": format!("{id}-heartbeat-{beat}"),
        "tool_name": tool,
        "parent_tool_use_id": id,
        "elapsed_time_seconds": seconds,
        "heartbeat": true,
    })
}
