//! The model's answer, one finished block per line.

use serde_json::Value;

use super::AssistantError;
use crate::content::{ContentBlock, ToolUseBlock};
use crate::id::{AgentId, MessageUuid, SessionId, ToolUseId};
use crate::usage::Usage;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// A finished block of the model's answer.
    ///
    /// The blocks of one API response come on a line each and share `message.id`. The usage in
    /// them is that of the beginning of the response: take sums from the result.
    pub struct AssistantMessage ["type" = "assistant"] {
        pub message: ApiMessage,
        /// The tool call whose sub-agent is speaking.
        pub parent_tool_use_id ? ToolUseId,
        pub session_id ? SessionId,
        pub uuid ? MessageUuid,
        pub timestamp ? String,
        pub request_id ? String,
        /// The text is an error text; this is its class.
        pub error ? AssistantError,
        pub is_api_error_message ? bool,
        pub api_error_status ? u64,
        pub api_error_type ? String,
        pub api_error ? String,
        pub api_error_params ? Box<Value>,
        /// The turn was interrupted in the middle of this block.
        pub aborted ? bool,
        /// Earlier lines that this one replaces.
        pub supersedes ? Vec<MessageUuid>,
        pub refused_message_id ? String,
        pub user_message_uuid ? MessageUuid,
        pub user_message_uuids ? Vec<MessageUuid>,
        pub resume_reason ? String,
        pub resumed_from_incomplete_thinking ? bool,
        pub agent_id ? AgentId,
        pub subagent_type ? String,
        pub task_description ? String,
        pub tool_use_meta ? Vec<Value>,
        pub thinking_display ? String,
        pub thinking_duration_ms ? u64,
        pub context_usage ? Box<Value>,
        pub usage_report ? Box<Value>,
        pub local_command_source ? String,
        pub local_command_run ? Box<Value>,
        pub local_command_outcome ? Box<Value>,
    }
}

impl AssistantMessage {
    /// All text blocks put together.
    pub fn text(&self) -> String {
        let blocks = self.message.content.iter();
        blocks.filter_map(ContentBlock::as_text).collect()
    }

    /// The tool calls.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUseBlock> {
        let blocks = self.message.content.iter();
        blocks.filter_map(ContentBlock::as_tool_use)
    }

    /// Whether the engine wrote it, not the model: an API error or the output of a command.
    pub fn is_synthetic(&self) -> bool {
        self.message.model.as_deref() == Some("<synthetic>")
    }
}

wire_struct! {
    /// A message of the API.
    pub struct ApiMessage {
        pub id ? String,
        pub kind ? String => "type",
        pub role ? String,
        pub model ? String,
        pub content: Vec<ContentBlock>,
        pub stop_reason ? StopReason,
        pub stop_sequence ? String,
        pub stop_details ? Box<Value>,
        pub usage ? Usage,
        pub context_management ? Box<Value>,
        pub diagnostics ? Box<Value>,
        pub container ? Box<Value>,
    }
}

open_enum! {
    /// Why the model stopped.
    pub enum StopReason {
        EndTurn = "end_turn",
        ToolUse = "tool_use",
        MaxTokens = "max_tokens",
        StopSequence = "stop_sequence",
        PauseTurn = "pause_turn",
        Refusal = "refusal",
        Compaction = "compaction",
        ModelContextWindowExceeded = "model_context_window_exceeded",
        /// A hook put the tool call off; the engine's own value.
        ToolDeferred = "tool_deferred",
    }
}
