//! Opening a session.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{AccountInfo, AgentInfo, ModelInfo, SlashCommand};
use crate::agent::AgentDefinition;
use crate::hook::{HookEvent, HookMatcher};
use crate::mcp::McpToolPolicy;
use crate::number::Number;
use crate::permission::PermissionMode;
use crate::system::SessionState;
use crate::wire::{Object, wire_struct};

wire_struct! {
    /// Opens a session. May be repeated; then the hooks are replaced.
    pub struct InitializeRequest ["subtype" = "initialize"] {
        pub hooks ? BTreeMap<HookEvent, Vec<HookMatcher>>,
        /// Names of MCP servers in the host.
        pub sdk_mcp_servers ? Vec<String> => "sdkMcpServers",
        pub sdk_mcp_server_configs ? BTreeMap<String, SdkMcpServerConfig> => "sdkMcpServerConfigs",
        /// Their tools, so that the engine need not ask.
        pub sdk_mcp_server_manifests ? BTreeMap<String, SdkMcpServerManifest>
            => "sdkMcpServerManifests",
        pub sdk_mcp_server_manifests_origin ? String => "sdkMcpServerManifestsOrigin",
        pub json_schema ? Object => "jsonSchema",
        /// Replaces the system prompt. Left out, the engine uses its own.
        pub system_prompt ? Vec<String> => "systemPrompt",
        pub append_system_prompt ? String => "appendSystemPrompt",
        pub system_prompt_snapshot ? bool => "systemPromptSnapshot",
        pub plan_mode_instructions ? String => "planModeInstructions",
        pub tool_aliases ? BTreeMap<String, String> => "toolAliases",
        pub exclude_dynamic_sections ? bool => "excludeDynamicSections",
        pub agents ? BTreeMap<String, AgentDefinition>,
        pub title ? String,
        pub skills ? Vec<String>,
        pub prompt_suggestions ? bool => "promptSuggestions",
        pub agent_progress_summaries ? bool => "agentProgressSummaries",
        pub forward_subagent_text ? bool => "forwardSubagentText",
        pub supported_dialog_kinds ? Vec<String> => "supportedDialogKinds",
        /// An interrupt spares the tasks in the background.
        pub per_task_stop_affordance ? bool => "perTaskStopAffordance",
        pub plugins ? Vec<PluginConfig>,
    }
}

wire_struct! {
    /// What holds for an MCP server in the host.
    pub struct SdkMcpServerConfig {
        pub timeout ? Number,
        pub tools ? Vec<McpToolPolicy>,
    }
}

wire_struct! {
    /// What an MCP server in the host would answer.
    pub struct SdkMcpServerManifest {
        pub initialize_result: Object => "initializeResult",
        pub tools_list_result ? Object => "toolsListResult",
    }
}

wire_struct! {
    /// A plugin to load.
    pub struct PluginConfig {
        /// `local`.
        pub kind: String => "type",
        pub path: String,
        pub skip_mcp_discovery ? bool => "skipMcpDiscovery",
    }
}

impl PluginConfig {
    /// The plugin in the directory `path`.
    pub fn local(path: impl Into<String>) -> Self {
        Self {
            kind: "local".to_owned(),
            path: path.into(),
            ..Self::default()
        }
    }
}

wire_struct! {
    /// What the engine says about itself.
    pub struct InitializeResponse {
        pub commands * Vec<SlashCommand>,
        pub agents * Vec<AgentInfo>,
        pub output_style ? String,
        pub available_output_styles * Vec<String>,
        pub models * Vec<ModelInfo>,
        pub account ? AccountInfo,
        pub pid ? u32,
        pub claude_code_version ? String,
        pub current_permission_mode ? PermissionMode,
        pub hooks_applied ? bool,
        /// Whether `onFailure: block` holds. Without it, security hooks fail open.
        pub hook_on_failure_supported ? bool,
        pub other_hook_ask_outranks_host ? bool,
        pub plugins_applied ? bool,
        pub sdk_mcp_manifests_parked ? BTreeMap<String, String>,
        pub session_state ? SessionState,
        pub capabilities ? Vec<String>,
        pub fast_mode_state ? String,
        pub fast_mode_disabled_reason ? String,
        pub user_output_styles_dir ? String,
        pub analytics_disabled ? bool,
        pub feedback_mode ? Value,
    }
}
