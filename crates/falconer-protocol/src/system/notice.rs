//! Things the user may want to know.

use serde_json::Value;

use crate::control::SlashCommand;
use crate::id::{AgentId, MessageUuid, RequestId, SessionId, ToolUseId};
use crate::number::Number;
use crate::wire::wire_struct;

wire_struct! {
    /// A tool call was denied without asking.
    pub struct PermissionDenied ["type" = "system", "subtype" = "permission_denied"] {
        pub tool_name: String,
        pub tool_use_id: ToolUseId,
        pub agent_id ? AgentId,
        pub decision_reason_type ? String,
        pub decision_reason ? String,
        pub message ? String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A text for the user.
    pub struct Informational ["type" = "system", "subtype" = "informational"] {
        pub content: String,
        /// `info`, `notice`, `suggestion` or `warning`.
        pub level ? String,
        pub tool_use_id ? ToolUseId,
        pub prevent_continuation ? bool,
        pub tag ? String,
        pub prompt_submit_outcome ? Value,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A short text for the user.
    pub struct Notification ["type" = "system", "subtype" = "notification"] {
        pub key: String,
        pub text: String,
        pub priority ? String,
        pub color ? String,
        pub timeout_ms ? Number,
        pub session_id ? SessionId,
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// The output of a local command.
    pub struct LocalCommandOutput ["type" = "system", "subtype" = "local_command_output"] {
        pub content: String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The slash commands changed.
    pub struct CommandsChanged ["type" = "system", "subtype" = "commands_changed"] {
        pub commands: Vec<SlashCommand>,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A slow control request goes on.
    pub struct ControlRequestProgress ["type" = "system", "subtype" = "control_request_progress"] {
        pub request_id: RequestId,
        pub status: String,
        pub attempt ? u64,
        pub max_retries ? u64,
        pub retry_delay_ms ? Number,
        pub error_status ? u64,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The user has finished an MCP server's form.
    pub struct ElicitationComplete ["type" = "system", "subtype" = "elicitation_complete"] {
        pub mcp_server_name: String,
        pub elicitation_id: String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// Files were stored.
    pub struct FilesPersisted ["type" = "system", "subtype" = "files_persisted"] {
        pub files * Vec<PersistedFile>,
        pub failed * Vec<FilePersistFailure>,
        pub processed_at ? String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A file that was stored.
    pub struct PersistedFile {
        pub filename: String,
        pub file_id: String,
    }
}

wire_struct! {
    /// A file that was not stored.
    pub struct FilePersistFailure {
        pub filename: String,
        pub error: String,
    }
}

wire_struct! {
    /// Memories were put into the context.
    pub struct MemoryRecall ["type" = "system", "subtype" = "memory_recall"] {
        pub mode: String,
        pub memories * Vec<RecalledMemory>,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A memory.
    pub struct RecalledMemory {
        pub path: String,
        pub scope ? String,
        pub content ? String,
    }
}

wire_struct! {
    /// A plugin is being installed.
    pub struct PluginInstall ["type" = "system", "subtype" = "plugin_install"] {
        pub status: String,
        pub name ? String,
        pub error ? String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}
