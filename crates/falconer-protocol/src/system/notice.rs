//! Things the user may want to know.

use crate::command::SlashCommand;
use crate::id::{AgentId, MessageUuid, RequestId, SessionId, ToolUseId};
use crate::number::Number;
use crate::permission::DecisionReasonType;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// A tool call was denied without asking.
    pub struct PermissionDenied ["type" = "system", "subtype" = "permission_denied"] {
        /// Tool that was not run.
        pub tool_name: String,
        /// Id of the call in the `assistant` line.
        pub tool_use_id: ToolUseId,
        /// Sub-agent that made the call; absent in the main conversation.
        pub agent_id ? AgentId,
        /// Kind of reason, as in [`DecisionReasonType`](crate::permission::DecisionReasonType).
        pub decision_reason_type ? DecisionReasonType,
        /// Reason for people; absent if there is none.
        pub decision_reason ? String,
        /// Text that the model gets as the result.
        pub message ? String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A text for the user.
    pub struct Informational ["type" = "system", "subtype" = "informational"] {
        /// Text for the user; may have several lines.
        pub content: String,
        /// `info`, `notice`, `suggestion` or `warning`.
        pub level ? Level,
        /// Call that the text is about; a later text about the same call replaces it.
        pub tool_use_id ? ToolUseId,
        /// `true` if the turn ends here.
        pub prevent_continuation ? bool,
        /// Kind of text for programs; observed as `hook_callback_failed`.
        pub tag ? String,
        /// Fate of a blocked prompt; `kind` observed as `blocked_by_hook` and `no_verdict`.
        pub prompt_submit_outcome ? PromptSubmitOutcome,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

open_enum! {
    /// The weight of a text.
    pub enum Level {
        Info = "info",
        Notice = "notice",
        Suggestion = "suggestion",
        Warning = "warning",
    }
}

wire_struct! {
    /// The fate of a prompt that hooks looked at.
    pub struct PromptSubmitOutcome {
        /// `blocked_by_hook`, `no_verdict` and others.
        pub kind: String,
        /// `true` if the prompt became part of the conversation.
        pub prompt_kept: bool,
        /// Reason that the hook gave.
        pub reason ? String,
        /// Reason a hook gave no answer: `callback_timed_out` or `cancelled`.
        pub no_verdict_kind ? String,
    }
}

wire_struct! {
    /// A short text for the user.
    pub struct Notification ["type" = "system", "subtype" = "notification"] {
        /// Kind of notice; a later one with the same key replaces it. Observed as
        /// `stop-hook-error`.
        pub key: String,
        /// Text to show.
        pub text: String,
        /// `low`, `medium`, `high` or `immediate`.
        pub priority ? String,
        /// Name of a colour in the CLI's theme.
        pub color ? String,
        /// Milliseconds to show it; absent for the CLI's default.
        pub timeout_ms ? Number,
        /// Session that wrote this line.
        pub session_id ? SessionId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// The output of a local command.
    pub struct LocalCommandOutput ["type" = "system", "subtype" = "local_command_output"] {
        /// Output of the command.
        pub content: String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The slash commands changed.
    pub struct CommandsChanged ["type" = "system", "subtype" = "commands_changed"] {
        /// All slash commands and skills, in place of those known before.
        pub commands: Vec<SlashCommand>,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A slow control request goes on.
    pub struct ControlRequestProgress ["type" = "system", "subtype" = "control_request_progress"] {
        /// Request of the host that is still being worked on.
        pub request_id: RequestId,
        /// `started` or `api_retry`.
        pub status: String,
        /// Number of the failed attempt, with `api_retry`.
        pub attempt ? u64,
        /// Number of retries before the request fails, with `api_retry`.
        pub max_retries ? u64,
        /// Milliseconds until the next attempt, with `api_retry`.
        pub retry_delay_ms ? Number,
        /// HTTP status of the failure, with `api_retry`; `null` if there was no answer.
        pub error_status ? u64,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The user has finished an MCP server's form.
    pub struct ElicitationComplete ["type" = "system", "subtype" = "elicitation_complete"] {
        /// Server that asked.
        pub mcp_server_name: String,
        /// Id in [`Elicitation`](crate::control::Elicitation).
        pub elicitation_id: String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// Files were stored.
    pub struct FilesPersisted ["type" = "system", "subtype" = "files_persisted"] {
        /// Files that were stored.
        pub files * Vec<PersistedFile>,
        /// Files that were not stored.
        pub failed * Vec<FilePersistFailure>,
        /// ISO 8601 time at which it was done.
        pub processed_at ? String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A file that was stored.
    pub struct PersistedFile {
        /// Name of the file.
        pub filename: String,
        /// Id in the API's file store.
        pub file_id: String,
    }
}

wire_struct! {
    /// A file that was not stored.
    pub struct FilePersistFailure {
        /// Name of the file.
        pub filename: String,
        /// Reason for people.
        pub error: String,
    }
}

wire_struct! {
    /// Memories were put into the context.
    pub struct MemoryRecall ["type" = "system", "subtype" = "memory_recall"] {
        /// `select` for whole files, `synthesize` for a text made of several.
        pub mode: String,
        /// Memories that the model reads from now on.
        pub memories * Vec<RecalledMemory>,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A memory.
    pub struct RecalledMemory {
        /// File, or `<synthesis:DIR>` for a text made of several.
        pub path: String,
        /// `personal`, `team` or `organization`.
        pub scope ? String,
        /// Text of the memory; absent if it can be read from the file.
        pub content ? String,
    }
}

wire_struct! {
    /// A plugin is being installed.
    pub struct PluginInstall ["type" = "system", "subtype" = "plugin_install"] {
        /// `started`, `installed`, `failed` or `completed`.
        pub status: String,
        /// Plugin at hand; absent for the lines about all of them.
        pub name ? String,
        /// Reason, with `failed`.
        pub error ? String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}
