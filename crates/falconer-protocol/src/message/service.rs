//! Lines beside the conversation.

use serde_json::Value;

use crate::id::{MessageUuid, SessionId, TaskId, ToolUseId};
use crate::number::Number;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// A tool has been running for a while.
    pub struct ToolProgressMessage ["type" = "tool_progress"] {
        /// An id derived from the call's; the call itself is `parent_tool_use_id`.
        pub tool_use_id: ToolUseId,
        pub tool_name: String,
        pub parent_tool_use_id ? ToolUseId,
        pub elapsed_time_seconds: Number,
        pub task_id ? TaskId,
        pub heartbeat ? bool,
        pub subagent_type ? String,
        pub subagent_retry ? SubagentRetry,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A sub-agent waits to try the API again.
    pub struct SubagentRetry {
        pub agent_id: String,
        pub attempt: u64,
        pub max_retries: u64,
        pub retry_delay_ms: Number,
        pub error_status ? u64,
        pub error_category ? String,
    }
}

wire_struct! {
    /// What a series of tool calls did, in words.
    pub struct ToolUseSummaryMessage ["type" = "tool_use_summary"] {
        pub summary: String,
        pub preceding_tool_use_ids * Vec<ToolUseId>,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// What became of a prompt that carried a uuid.
    pub struct CommandLifecycleMessage ["type" = "command_lifecycle"] {
        pub command_uuid: MessageUuid,
        pub state: CommandState,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

open_enum! {
    /// Where a prompt is on its way.
    pub enum CommandState {
        Queued = "queued",
        Started = "started",
        Completed = "completed",
        Cancelled = "cancelled",
    }
}

wire_struct! {
    /// The conversation was cleared; the session id changes from here on.
    pub struct ConversationResetMessage ["type" = "conversation_reset"] {
        pub new_conversation_id: SessionId,
        pub trigger ? String,
        pub user_message_uuid ? MessageUuid,
        pub timestamp ? String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// Lines for the host's copy of the transcript.
    pub struct TranscriptMirrorMessage ["type" = "transcript_mirror"] {
        pub file_path: String => "filePath",
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
        pub is_authenticating: bool => "isAuthenticating",
        pub output * Vec<String>,
        pub error ? String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// What the user may want to say next.
    pub struct PromptSuggestionMessage ["type" = "prompt_suggestion"] {
        pub suggestion: String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The goal the session works on; `value` is `null` when there is none.
    pub struct ActiveGoalMessage ["type" = "active_goal"] {
        pub value ? ActiveGoal,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A goal and how far it is.
    pub struct ActiveGoal {
        pub condition: String,
        pub iterations ? u64,
        pub set_at ? Number,
        pub tokens_at_start ? u64,
        pub last_reason ? String,
    }
}

wire_struct! {
    /// The rate limits changed.
    pub struct RateLimitEvent ["type" = "rate_limit_event"] {
        pub rate_limit_info: RateLimitInfo,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The state of a rate limit.
    pub struct RateLimitInfo {
        pub status: RateLimitStatus,
        pub resets_at ? Number => "resetsAt",
        pub rate_limit_type ? String => "rateLimitType",
        pub utilization ? Number,
        pub overage_status ? RateLimitStatus => "overageStatus",
        pub overage_resets_at ? Number => "overageResetsAt",
        pub overage_disabled_reason ? String => "overageDisabledReason",
        pub is_using_overage ? bool => "isUsingOverage",
        pub overage_in_use ? bool => "overageInUse",
        pub overage_enabled ? bool => "overageEnabled",
        pub surpassed_threshold ? Number => "surpassedThreshold",
        pub limit_scope ? String => "limitScope",
        pub error_code ? String => "errorCode",
        pub can_user_purchase_credits ? bool => "canUserPurchaseCredits",
        pub has_chargeable_saved_payment_method ? bool => "hasChargeableSavedPaymentMethod",
    }
}

open_enum! {
    /// Whether requests pass.
    pub enum RateLimitStatus {
        Allowed = "allowed",
        AllowedWarning = "allowed_warning",
        Rejected = "rejected",
    }
}
