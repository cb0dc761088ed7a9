//! Payloads of the engine's answers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{AgentInfo, ModelInfo, SlashCommand};
use crate::id::MessageUuid;
use crate::mcp::McpServerStatus;
use crate::permission::{PermissionBehavior, PermissionMode};
use crate::wire::wire_struct;

wire_struct! {
    /// Which prompts outlived an interrupt.
    pub struct InterruptResponse {
        pub still_queued * Vec<MessageUuid>,
        pub cancelled ? Vec<MessageUuid>,
    }
}

wire_struct! {
    /// The model now in use.
    pub struct SetModelResponse {
        pub model ? String,
    }
}

wire_struct! {
    /// The mode now in force.
    pub struct SetPermissionModeResponse {
        pub mode ? PermissionMode,
    }
}

wire_struct! {
    /// How the MCP servers are.
    pub struct McpStatusResponse {
        pub mcp_servers * Vec<McpServerStatus> => "mcpServers",
    }
}

wire_struct! {
    /// What replacing the MCP servers did.
    pub struct McpSetServersResponse {
        pub added * Vec<String>,
        pub removed * Vec<String>,
        /// Server name to reason.
        pub errors * BTreeMap<String, String>,
    }
}

wire_struct! {
    /// What an MCP resource holds.
    pub struct McpReadResourceResponse {
        pub contents * Vec<Value>,
    }
}

wire_struct! {
    /// What undoing changes did, or would do.
    pub struct RewindResponse {
        pub can_rewind: bool => "canRewind",
        pub error ? String,
        pub files_changed ? Vec<String> => "filesChanged",
        pub insertions ? u64,
        pub deletions ? u64,
        pub skipped_links ? u64 => "skippedLinks",
    }
}

wire_struct! {
    /// Whether a queued prompt was taken back.
    pub struct CancelAsyncMessageResponse {
        pub cancelled: bool,
    }
}

wire_struct! {
    /// The output of a task.
    pub struct TaskOutputResponse {
        pub output: String,
        pub total_bytes ? u64,
        pub truncated ? bool,
    }
}

wire_struct! {
    /// What the session cost, in words.
    pub struct SessionCostResponse {
        pub text: String,
    }
}

wire_struct! {
    /// Which models there are.
    pub struct ListModelsResponse {
        pub models * Vec<ModelInfo>,
    }
}

wire_struct! {
    /// The version of the engine.
    pub struct BinaryVersionResponse {
        pub version: String,
        pub build_time ? String => "buildTime",
    }
}

wire_struct! {
    /// What the model said beside the conversation.
    pub struct SideQuestionResponse {
        pub response ? String,
        pub synthetic ? bool,
    }
}

wire_struct! {
    /// What a file holds.
    pub struct ReadFileResponse {
        pub contents: String,
        pub abs_path ? String => "absPath",
        pub truncated ? bool,
        pub encoding ? String,
        pub lossy ? bool,
    }
}

wire_struct! {
    /// The skills there are now.
    pub struct ReloadSkillsResponse {
        pub skills * Vec<SlashCommand>,
    }
}

wire_struct! {
    /// The output styles there are now.
    pub struct ReloadOutputStylesResponse {
        pub available_output_styles * Vec<String>,
    }
}

wire_struct! {
    /// What there is after reading the plugins again.
    pub struct ReloadPluginsResponse {
        pub commands * Vec<SlashCommand>,
        pub agents * Vec<AgentInfo>,
        pub plugins * Vec<Value>,
        pub mcp_servers * Vec<McpServerStatus> => "mcpServers",
        pub error_count ? u64,
        pub held ? bool,
        pub cache_impact ? Value,
    }
}

wire_struct! {
    /// The permission rules in force.
    pub struct ListPermissionRulesResponse {
        pub state: PermissionRulesState,
    }
}

wire_struct! {
    /// The permission rules in force.
    pub struct PermissionRulesState {
        pub rules * Vec<PermissionRuleEntry>,
        pub workspace_directories * Vec<WorkspaceDirectory> => "workspaceDirectories",
        pub original_cwd ? String => "originalCwd",
        pub managed_only ? bool => "managedOnly",
        pub errors ? Vec<Value>,
        pub withheld ? bool,
    }
}

wire_struct! {
    /// A permission rule and where it comes from.
    pub struct PermissionRuleEntry {
        pub behavior: PermissionBehavior,
        pub source: String,
        pub rule: String,
        pub description ? Value,
        pub editability ? String,
        pub not_in_effect ? bool => "notInEffect",
    }
}

wire_struct! {
    /// A directory to work in.
    pub struct WorkspaceDirectory {
        pub path: String,
        pub source ? String,
    }
}
