//! The end of a turn.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{MessageOrigin, StartupFailureReason, StopReason, TerminalReason};
use crate::id::{MessageUuid, SessionId, ToolUseId};
use crate::number::Number;
use crate::usage::{ModelUsage, Usage};
use crate::wire::{Object, open_enum, wire_struct};

wire_struct! {
    /// The end of a turn; not the end of the run.
    ///
    /// Every API failure arrives as subtype `success` with `is_error`: ask
    /// [`ResultMessage::is_success`].
    pub struct ResultMessage ["type" = "result"] {
        /// Class of the end; `success` also for API failures, so look at `is_error` first.
        pub subtype: ResultSubtype,
        /// `true` if the turn failed, whatever the subtype says.
        pub is_error * bool,
        /// Milliseconds from the start of the turn to its end.
        pub duration_ms ? Number,
        /// Milliseconds spent in API requests; may exceed `duration_ms` if several ran at once.
        pub duration_api_ms ? Number,
        /// API round trips, with injected messages counted in places; advisory. 0 if the model was
        /// not asked.
        pub num_turns ? u64,
        /// The answer; missing for the error subtypes.
        pub result ? String,
        /// Reason the last answer stopped; `null` after an interrupt or if the model was not asked.
        pub stop_reason ? StopReason,
        /// Estimated cost of the process so far, in US dollars. Grows from turn to turn: do not add
        /// it up.
        pub total_cost_usd ? Number,
        /// Tokens of this turn, without sub-agents.
        pub usage ? Usage,
        /// Use of each model since the process started, sub-agents included.
        pub model_usage * BTreeMap<String, ModelUsage> => "modelUsage",
        /// Use of each model since the previous result.
        pub model_usage_since_last_result ? BTreeMap<String, ModelUsage>,
        /// Tool calls that were denied in this turn, by the host, a rule or a hook.
        pub permission_denials * Vec<PermissionDenial>,
        /// Value that fits the requested schema. Absent if no schema was set, or if the model never
        /// produced one: that is still a success.
        pub structured_output ? Value,
        /// Call that a hook put off, with [`TerminalReason::ToolDeferred`].
        pub deferred_tool_use ? DeferredToolUse,
        /// Texts of the error subtypes.
        pub errors * Vec<String>,
        /// Finer reason for the end. Absent after slash commands, blocked prompts and startup
        /// failures.
        pub terminal_reason ? TerminalReason,
        /// Set if the engine did not start; the text is in `errors`.
        pub startup_failure_reason ? StartupFailureReason,
        /// Set with [`StartupFailureReason::ConfigFileInvalid`].
        pub invalid_config_file ? InvalidConfigFile,
        /// HTTP status of the failed API request; `null` if none failed.
        pub api_error_status ? u64,
        /// Error type in the API's answer, such as `rate_limit_error`.
        pub api_error_type ? String,
        /// Failure without an HTTP status, observed as `connection_failed` and `max_output_tokens`.
        pub api_error ? String,
        /// Session of the turn; compare it with the one before to notice `/clear`.
        pub session_id ? SessionId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Number of results the process wrote before this one. A gap means that one was lost.
        pub result_index ? u64,
        /// Prompts of the host still in the queue. Above 0, at least one more result follows.
        pub queued_turn_count ? u64,
        /// Prompt that started the turn, if it had a uuid; the last one if several were merged.
        pub user_message_uuid ? MessageUuid,
        /// All prompts the turn answered, in order: several may share one result.
        pub user_message_uuids ? Vec<MessageUuid>,
        /// Cause of the turn, if it was not a prompt of the host.
        pub origin ? MessageOrigin,
        /// Set if the turn went on with one that a restart had interrupted.
        pub resume_reason ? String,
        /// Name of the slash command that was run instead of a turn, such as `compact`.
        pub local_command ? String,
        /// Counts of sub-agents: spawned, completed, failed, killed, refused, by type.
        pub subagent_stats ? Box<SubagentStats>,
        /// Number of answers that the model's safeguards stopped.
        pub safety_stops ? u64,
        /// `off`, `on` or `cooldown`; observed as `off`.
        pub fast_mode_state ? String,
        /// Reason fast mode is off; observed as `sdk_opt_in_required`.
        pub fast_mode_disabled_reason ? String,
        /// ISO 8601 time at which the stored login ends; absent for API keys.
        pub credential_expires_at ? String,
        /// Milliseconds to the first token of the first answer.
        pub ttft_ms ? Number,
        /// Milliseconds to the first event of the answer's stream.
        pub ttft_stream_ms ? Number,
        /// Milliseconds from the prompt to the first API request.
        pub time_to_request_ms ? Number,
        /// Milliseconds from the start of the process to the first API request; not in the recorded
        /// sessions.
        pub time_to_request_from_spawn_ms ? Number,
        /// Start of the process; not in the recorded sessions.
        pub time_origin_ms ? Number,
        /// Time of the first API request, in milliseconds since 1970; observed for prompts with a
        /// uuid.
        pub request_sent_wall_ms ? Number,
        /// Milliseconds to the first line with content.
        pub first_content_frame_ms ? Number,
        /// Uncached input tokens of the turn's first request; observed for prompts with a uuid.
        pub first_request_input_tokens ? u64,
        /// Cached input tokens of the turn's first request; observed for prompts with a uuid.
        pub first_request_cache_read_input_tokens ? u64,
        /// `true` if a process started in advance took the session over.
        pub warm_spare_claimed ? bool,
    }
}

impl ResultMessage {
    /// Returns `true` if the turn ended normally: `is_error` is false and the subtype is `success`.
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
    /// The class of a turn's end.
    pub enum ResultSubtype {
        /// The turn came to its end. API failures too: see [`ResultMessage::is_success`].
        Success = "success",
        /// The turn was interrupted, or the engine did not start.
        ErrorDuringExecution = "error_during_execution",
        /// The limit on API round trips was reached.
        ErrorMaxTurns = "error_max_turns",
        /// The limit on costs was reached.
        ErrorMaxBudgetUsd = "error_max_budget_usd",
        /// The model never produced output that fits the schema.
        ErrorMaxStructuredOutputRetries = "error_max_structured_output_retries",
    }
}

wire_struct! {
    /// A tool call that was not allowed.
    pub struct PermissionDenial {
        /// Tool that was not run.
        pub tool_name: String,
        /// Id of the call in the `assistant` line.
        pub tool_use_id: ToolUseId,
        /// Arguments that were denied.
        pub tool_input: Value,
    }
}

wire_struct! {
    /// A tool call that a hook put off.
    pub struct DeferredToolUse {
        /// Id of the call in the `assistant` line.
        pub id: ToolUseId,
        /// Tool that was not run.
        pub name: String,
        /// Arguments with which the host may run it.
        pub input: Value,
    }
}

wire_struct! {
    /// Counts of the sub-agents of a run.
    pub struct SubagentStats {
        /// Number of those started.
        pub spawned: u64,
        /// Places the model wanted them to run in.
        pub requested: SubagentsRequested,
        /// Number of those that began in the background.
        pub started_in_background: u64,
        /// Depth of the most deeply nested one; 0 without any.
        pub max_depth: u64,
        /// Number of those started by another sub-agent.
        pub spawned_by_subagents: u64,
        /// Number of those that came to an answer.
        pub completed: u64,
        /// Number of those that ended with an error.
        pub failed: u64,
        /// Numbers of those ended from outside.
        pub killed: SubagentsKilled,
        /// Numbers of those not started.
        pub refused: SubagentsRefused,
        /// The same by type of sub-agent.
        pub by_type: Object,
    }
}

wire_struct! {
    /// Sub-agents by the place the model wanted them to run in.
    pub struct SubagentsRequested {
        /// In the background.
        pub background: u64,
        /// In front.
        pub foreground: u64,
        /// It did not say.
        pub unset: u64,
    }
}

wire_struct! {
    /// Sub-agents that were ended from outside, by who did it.
    pub struct SubagentsKilled {
        /// The agent that had started them.
        pub parent: u64,
        /// The user.
        pub user: u64,
        /// The engine.
        pub system: u64,
    }
}

wire_struct! {
    /// Sub-agents that were not started, by reason.
    pub struct SubagentsRefused {
        /// They would have been nested too deeply.
        pub depth_limit: u64,
        /// Too many were running.
        pub concurrency_limit: u64,
        /// There was no money left.
        pub budget: u64,
    }
}

wire_struct! {
    /// The configuration file that kept the engine from starting.
    pub struct InvalidConfigFile {
        /// File that is not valid JSON, as a path on the engine's machine.
        pub path: String,
        /// `true` for the engine's global file; only that one has backups.
        pub is_global ? bool,
        /// `true` if the engine looked for a backup; without `backup_path` it found none.
        pub backup_searched ? bool,
        /// Backup that could be restored; may itself be damaged.
        pub backup_path ? String,
    }
}
