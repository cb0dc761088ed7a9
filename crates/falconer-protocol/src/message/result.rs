//! The end of a turn.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{MessageOrigin, StartupFailureReason, StopReason, TerminalReason};
use crate::id::{MessageUuid, SessionId, ToolUseId};
use crate::number::Number;
use crate::usage::{ModelUsage, Usage};
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// The end of a turn; not the end of the run.
    ///
    /// Every API failure arrives as subtype `success` with `is_error`: ask
    /// [`ResultMessage::is_success`].
    pub struct ResultMessage ["type" = "result"] {
        pub subtype: ResultSubtype,
        pub is_error * bool,
        pub duration_ms ? Number,
        pub duration_api_ms ? Number,
        pub num_turns ? u64,
        /// The answer; missing for the error subtypes.
        pub result ? String,
        pub stop_reason ? StopReason,
        /// What the process has cost so far, in US dollars. It grows from turn to turn.
        pub total_cost_usd ? Number,
        /// Tokens of this turn, without sub-agents.
        pub usage ? Usage,
        /// What each model used since the process started.
        pub model_usage * BTreeMap<String, ModelUsage> => "modelUsage",
        pub model_usage_since_last_result ? BTreeMap<String, ModelUsage>,
        pub permission_denials * Vec<PermissionDenial>,
        pub structured_output ? Value,
        pub deferred_tool_use ? DeferredToolUse,
        /// Texts of the error subtypes.
        pub errors * Vec<String>,
        pub terminal_reason ? TerminalReason,
        pub startup_failure_reason ? StartupFailureReason,
        pub invalid_config_file ? InvalidConfigFile,
        pub api_error_status ? u64,
        pub api_error_type ? String,
        pub api_error ? String,
        pub session_id ? SessionId,
        pub uuid ? MessageUuid,
        pub result_index ? u64,
        pub queued_turn_count ? u64,
        pub user_message_uuid ? MessageUuid,
        pub user_message_uuids ? Vec<MessageUuid>,
        /// Who caused the turn, if not the host.
        pub origin ? MessageOrigin,
        pub resume_reason ? String,
        pub local_command ? String,
        pub subagent_stats ? Value,
        pub safety_stops ? u64,
        pub fast_mode_state ? String,
        pub fast_mode_disabled_reason ? String,
        pub credential_expires_at ? String,
        pub ttft_ms ? Number,
        pub ttft_stream_ms ? Number,
        pub time_to_request_ms ? Number,
        pub time_to_request_from_spawn_ms ? Number,
        pub time_origin_ms ? Number,
        pub request_sent_wall_ms ? Number,
        pub first_content_frame_ms ? Number,
        pub first_request_input_tokens ? u64,
        pub first_request_cache_read_input_tokens ? u64,
        pub warm_spare_claimed ? bool,
    }
}

impl ResultMessage {
    /// Whether the turn did what was asked.
    pub fn is_success(&self) -> bool {
        !self.is_error && self.subtype == ResultSubtype::Success
    }

    /// The text to show: the answer, or what went wrong.
    pub fn text(&self) -> String {
        match &self.result {
            Some(text) => text.clone(),
            None => self.errors.join("\n"),
        }
    }
}

open_enum! {
    /// How a turn ended.
    pub enum ResultSubtype {
        Success = "success",
        ErrorDuringExecution = "error_during_execution",
        ErrorMaxTurns = "error_max_turns",
        ErrorMaxBudgetUsd = "error_max_budget_usd",
        ErrorMaxStructuredOutputRetries = "error_max_structured_output_retries",
    }
}

wire_struct! {
    /// A tool call that was not allowed.
    pub struct PermissionDenial {
        pub tool_name: String,
        pub tool_use_id: ToolUseId,
        pub tool_input: Value,
    }
}

wire_struct! {
    /// A tool call that a hook put off.
    pub struct DeferredToolUse {
        pub id: ToolUseId,
        pub name: String,
        pub input: Value,
    }
}

wire_struct! {
    /// The configuration file that kept the engine from starting.
    pub struct InvalidConfigFile {
        pub path: String,
        pub is_global ? bool,
        pub backup_searched ? bool,
        pub backup_path ? String,
    }
}
