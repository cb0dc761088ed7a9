//! Lines beside the conversation.

use serde_json::Value;

use crate::id::{MessageUuid, SessionId, TaskId, ToolUseId};
use crate::number::Number;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// A tool has been running for a while.
    pub struct ToolProgressMessage ["type" = "tool_progress"] {
        /// Id derived from the call's, such as `ID-heartbeat-0`; the call itself is
        /// `parent_tool_use_id`.
        pub tool_use_id: ToolUseId,
        /// Tool that is running.
        pub tool_name: String,
        /// Id of the call that is running; unlike elsewhere, not of a sub-agent's call.
        pub parent_tool_use_id ? ToolUseId,
        /// Seconds since the tool started. The first line comes after 30.
        pub elapsed_time_seconds: Number,
        /// Background task of the tool, if it has one.
        pub task_id ? TaskId,
        /// `true` if the line only says that the tool is alive.
        pub heartbeat ? bool,
        /// Type of the sub-agent that is running, if the tool is one.
        pub subagent_type ? String,
        /// Set while the sub-agent waits to repeat a failed API request.
        pub subagent_retry ? SubagentRetry,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A sub-agent waits to try the API again.
    pub struct SubagentRetry {
        /// Sub-agent that is waiting.
        pub agent_id: String,
        /// Number of the failed attempt, counted from one.
        pub attempt: u64,
        /// Number of retries before the sub-agent gives up.
        pub max_retries: u64,
        /// Milliseconds until the next attempt.
        pub retry_delay_ms: Number,
        /// HTTP status of the failure; `null` if no answer came.
        pub error_status ? u64,
        /// Class of the failure, as in [`AssistantError`](super::AssistantError).
        pub error_category ? String,
    }
}

wire_struct! {
    /// A summary of a series of tool calls.
    pub struct ToolUseSummaryMessage ["type" = "tool_use_summary"] {
        /// Text that a model wrote; costs a request of its own.
        pub summary: String,
        /// Calls that the summary covers.
        pub preceding_tool_use_ids * Vec<ToolUseId>,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A step in the life of a prompt that carried a uuid.
    pub struct CommandLifecycleMessage ["type" = "command_lifecycle"] {
        /// Id that the host gave the prompt.
        pub command_uuid: MessageUuid,
        /// Step that the prompt has reached.
        pub state: CommandState,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

open_enum! {
    /// The progress of a prompt.
    pub enum CommandState {
        /// The engine has read the prompt.
        Queued = "queued",
        /// A turn has taken it up.
        Started = "started",
        /// Its turn is over. Comes after the result, or before it if the prompt was folded into a
        /// running turn.
        Completed = "completed",
        /// The host took it back, an interrupt dropped it, or its turn ended without an answer.
        Cancelled = "cancelled",
    }
}

wire_struct! {
    /// The conversation was cleared; the session id changes from here on.
    pub struct ConversationResetMessage ["type" = "conversation_reset"] {
        /// Session id of all lines that follow.
        pub new_conversation_id: SessionId,
        /// Cause of the reset, observed as `clear`.
        pub trigger ? String,
        /// Prompt that contained the command.
        pub user_message_uuid ? MessageUuid,
        /// ISO 8601 time in UTC, for display.
        pub timestamp ? String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that ends here.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// Lines for the host's copy of the transcript.
    pub struct TranscriptMirrorMessage ["type" = "transcript_mirror"] {
        /// Transcript that the engine wrote the entries to.
        pub file_path: String => "filePath",
        /// Entries in the transcript's own format, in the order written.
        pub entries: Vec<Value>,
    }
}

wire_struct! {
    /// Nothing but a sign of life.
    pub struct KeepAliveMessage ["type" = "keep_alive"] {}
}

wire_struct! {
    /// Progress of a login.
    pub struct AuthStatusMessage ["type" = "auth_status"] {
        /// `false` once the login has succeeded or failed.
        pub is_authenticating: bool => "isAuthenticating",
        /// Lines to show to the user, such as an address to open.
        pub output * Vec<String>,
        /// Text of a failed login; absent otherwise.
        pub error ? String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A suggestion for the next prompt.
    pub struct PromptSuggestionMessage ["type" = "prompt_suggestion"] {
        /// Text that the host may offer as the next prompt.
        pub suggestion: String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The goal the session works on; `value` is `null` when there is none.
    pub struct ActiveGoalMessage ["type" = "active_goal"] {
        /// Goal of the session; `null` if it has none any more.
        pub value ? ActiveGoal,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A goal and how far it is.
    pub struct ActiveGoal {
        /// Condition that has to hold, as the user wrote it.
        pub condition: String,
        /// Number of times the condition was checked.
        pub iterations ? u64,
        /// Time at which the goal was set; not in the recorded sessions.
        pub set_at ? Number,
        /// Tokens the session had used when the goal was set.
        pub tokens_at_start ? u64,
        /// Reason the last check gave for not being there yet.
        pub last_reason ? String,
    }
}

wire_struct! {
    /// The rate limits changed.
    pub struct RateLimitEvent ["type" = "rate_limit_event"] {
        /// State of the limit that is closest to being reached.
        pub rate_limit_info: RateLimitInfo,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The state of a rate limit.
    pub struct RateLimitInfo {
        /// Effect on requests at the moment.
        pub status: RateLimitStatus,
        /// Time at which the limit starts anew, in seconds since 1970.
        pub resets_at ? Number => "resetsAt",
        /// Window of the limit: `five_hour`, `seven_day`, `overage` and others.
        pub rate_limit_type ? String => "rateLimitType",
        /// Part of the limit that is used up; not in the recorded sessions.
        pub utilization ? Number,
        /// State of the paid extra usage; absent without it.
        pub overage_status ? RateLimitStatus => "overageStatus",
        /// Time at which the limit on extra usage starts anew, in seconds since 1970.
        pub overage_resets_at ? Number => "overageResetsAt",
        /// Reason there is no extra usage, such as `out_of_credits`.
        pub overage_disabled_reason ? String => "overageDisabledReason",
        /// `true` if requests are paid as extra usage.
        pub is_using_overage ? bool => "isUsingOverage",
        /// `true` if extra usage is being consumed; not in the recorded sessions.
        pub overage_in_use ? bool => "overageInUse",
        /// `true` if the account allows extra usage.
        pub overage_enabled ? bool => "overageEnabled",
        /// Warning threshold that was passed; not in the recorded sessions.
        pub surpassed_threshold ? Number => "surpassedThreshold",
        /// Holder of the exhausted spend limit if it is not the member's own: `service`, `channel`,
        /// `group_pool`.
        pub limit_scope ? String => "limitScope",
        /// `credits_required` if requests need credits.
        pub error_code ? String => "errorCode",
        /// `true` if the user can buy credits.
        pub can_user_purchase_credits ? bool => "canUserPurchaseCredits",
        /// `true` if the account has a means of payment on file.
        pub has_chargeable_saved_payment_method ? bool => "hasChargeableSavedPaymentMethod",
    }
}

open_enum! {
    /// The effect of a rate limit on requests.
    pub enum RateLimitStatus {
        /// Requests pass.
        Allowed = "allowed",
        /// Requests pass, and the limit is near.
        AllowedWarning = "allowed_warning",
        /// Requests are refused until the limit starts anew.
        Rejected = "rejected",
    }
}
