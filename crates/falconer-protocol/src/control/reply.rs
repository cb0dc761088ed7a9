//! Payloads of the engine's answers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{AgentInfo, ModelInfo};
use crate::command::SlashCommand;
use crate::id::MessageUuid;
use crate::mcp::McpServerStatus;
use crate::permission::{PermissionBehavior, PermissionMode};
use crate::wire::wire_struct;

wire_struct! {
    /// Prompts after an interrupt.
    pub struct InterruptResponse {
        /// Uuids of prompts that will run next.
        pub still_queued * Vec<MessageUuid>,
        /// Uuids of prompts that were dropped; only if the request asked for it.
        pub cancelled ? Vec<MessageUuid>,
    }
}

wire_struct! {
    /// The model now in use.
    pub struct SetModelResponse {
        /// Model id that the alias stands for.
        pub model ? String,
    }
}

wire_struct! {
    /// The mode now in force.
    pub struct SetPermissionModeResponse {
        /// Mode that is now in force.
        pub mode ? PermissionMode,
    }
}

wire_struct! {
    /// The MCP servers and their state.
    pub struct McpStatusResponse {
        /// All servers, those that failed included.
        pub mcp_servers * Vec<McpServerStatus> => "mcpServers",
    }
}

wire_struct! {
    /// The effect of replacing the MCP servers.
    pub struct McpSetServersResponse {
        /// Names of servers that were not there before.
        pub added * Vec<String>,
        /// Names of servers that are gone.
        pub removed * Vec<String>,
        /// Reason for each server that could not be added, by name.
        pub errors * BTreeMap<String, String>,
    }
}

wire_struct! {
    /// The contents of an MCP resource.
    pub struct McpReadResourceResponse {
        /// Parts of the resource, in MCP's own shape.
        pub contents * Vec<Value>,
    }
}

wire_struct! {
    /// The effect of undoing changes to files.
    pub struct RewindResponse {
        /// `false` if there is no checkpoint for the prompt; see `error`.
        pub can_rewind: bool => "canRewind",
        /// Reason nothing can be undone.
        pub error ? String,
        /// Paths that would change; only for a dry run.
        pub files_changed ? Vec<String> => "filesChanged",
        /// Lines that would be added; only for a dry run.
        pub insertions ? u64,
        /// Lines that would be removed; only for a dry run.
        pub deletions ? u64,
        /// Number of paths left alone because they are links by now; only for a real run.
        pub skipped_links ? u64 => "skippedLinks",
    }
}

wire_struct! {
    /// The fate of a prompt that the host took back.
    pub struct CancelAsyncMessageResponse {
        /// `false` if the prompt had already started or is unknown.
        pub cancelled: bool,
    }
}

wire_struct! {
    /// The output of a task.
    pub struct TaskOutputResponse {
        /// End of the output; empty if nothing was written yet.
        pub output: String,
        /// Size of the whole output.
        pub total_bytes ? u64,
        /// `true` if `output` is not all of it.
        pub truncated ? bool,
    }
}

wire_struct! {
    /// The session's cost as text.
    pub struct SessionCostResponse {
        /// Text as `/usage` shows it.
        pub text: String,
    }
}

wire_struct! {
    /// The models to choose from.
    pub struct ListModelsResponse {
        /// Models to choose from, the default first.
        pub models * Vec<ModelInfo>,
    }
}

wire_struct! {
    /// The version of the engine.
    pub struct BinaryVersionResponse {
        /// Version as `--version` prints it.
        pub version: String,
        /// ISO 8601 time of the build.
        pub build_time ? String => "buildTime",
    }
}

wire_struct! {
    /// The model's answer beside the conversation.
    pub struct SideQuestionResponse {
        /// Answer of the model; `null` if it gave none.
        pub response ? String,
        /// `true` if the engine wrote the answer because the request failed.
        pub synthetic ? bool,
    }
}

wire_struct! {
    /// The contents of a file.
    pub struct ReadFileResponse {
        /// Contents in the encoding below.
        pub contents: String,
        /// Absolute path of the file.
        pub abs_path ? String => "absPath",
        /// The path as it was asked for.
        pub requested_path ? String,
        /// `true` if the file is longer than the limit.
        pub truncated ? bool,
        /// `base64` if that was asked for; absent for UTF-8.
        pub encoding ? String,
        /// `true` if bytes that are not UTF-8 were replaced.
        pub lossy ? bool,
    }
}

wire_struct! {
    /// The skills there are now.
    pub struct ReloadSkillsResponse {
        /// All skills after reading them again.
        pub skills * Vec<SlashCommand>,
    }
}

wire_struct! {
    /// The output styles there are now.
    pub struct ReloadOutputStylesResponse {
        /// All output styles after reading them again.
        pub available_output_styles * Vec<String>,
    }
}

wire_struct! {
    /// The session after reading the plugins again.
    pub struct ReloadPluginsResponse {
        /// All slash commands and skills.
        pub commands * Vec<SlashCommand>,
        /// All sub-agents.
        pub agents * Vec<AgentInfo>,
        /// Plugins with `name`, `path` and, if declared, `version`.
        pub plugins * Vec<Value>,
        /// All MCP servers and their state.
        pub mcp_servers * Vec<McpServerStatus> => "mcpServers",
        /// Number of plugins that could not be loaded.
        pub error_count ? u64,
        /// `true` if nothing was changed because the prompt cache would be lost.
        pub held ? bool,
        /// Servers and tools that a held reload would add or remove.
        pub cache_impact ? Value,
    }
}

wire_struct! {
    /// The permission rules in force.
    pub struct ListPermissionRulesResponse {
        /// Rules and directories.
        pub state: PermissionRulesState,
    }
}

wire_struct! {
    /// The permission rules in force.
    pub struct PermissionRulesState {
        /// Rules of all sources.
        pub rules * Vec<PermissionRuleEntry>,
        /// Directories the session may work in beside the first one.
        pub workspace_directories * Vec<WorkspaceDirectory> => "workspaceDirectories",
        /// Directory the session started in.
        pub original_cwd ? String => "originalCwd",
        /// `true` if only managed settings may bring rules.
        pub managed_only ? bool => "managedOnly",
        /// Settings files that could not be read; their rules are missing here.
        pub errors ? Vec<Value>,
        /// `true` if the list was cut because the connection stores answers.
        pub withheld ? bool,
    }
}

wire_struct! {
    /// A permission rule and where it comes from.
    pub struct PermissionRuleEntry {
        /// Effect of the rule.
        pub behavior: PermissionBehavior,
        /// Origin: a settings source, `cliArg`, `session` and others.
        pub source: String,
        /// Rule as written, such as `Bash(git:*)`.
        pub rule: String,
        /// Reading of the rule for people; absent if there is none.
        pub description ? RuleDescription,
        /// `persistent`, `session` or `readonly`.
        pub editability ? String,
        /// `true` if managed settings switch the rule off.
        pub not_in_effect ? bool => "notInEffect",
    }
}

wire_struct! {
    /// A permission rule in words: `prefix`, then what is stressed.
    pub struct RuleDescription {
        /// The beginning.
        pub prefix: String,
        /// The part that is stressed.
        pub emphasis: String,
    }
}

wire_struct! {
    /// A directory to work in.
    pub struct WorkspaceDirectory {
        /// Absolute path.
        pub path: String,
        /// Origin: a settings source, `cliArg` or `session`.
        pub source ? String,
    }
}
