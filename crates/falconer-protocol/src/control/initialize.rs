//! Opening a session.

use std::collections::BTreeMap;

use super::{AccountInfo, AgentInfo, ModelInfo};
use crate::agent::AgentDefinition;
use crate::command::SlashCommand;
use crate::hook::{HookEvent, HookMatcher};
use crate::mcp::McpToolPolicy;
use crate::number::Number;
use crate::permission::PermissionMode;
use crate::system::SessionState;
use crate::wire::{Object, wire_struct};

wire_struct! {
    /// Opens a session. May be repeated; then the hooks are replaced.
    pub struct InitializeRequest ["subtype" = "initialize"] {
        /// Callbacks of the host by event; they replace those of an earlier `initialize`.
        pub hooks ? BTreeMap<HookEvent, Vec<HookMatcher>>,
        /// Names of MCP servers in the host. The engine talks to them before it answers.
        pub sdk_mcp_servers ? Vec<String> => "sdkMcpServers",
        /// Settings of those servers, by name.
        pub sdk_mcp_server_configs ? BTreeMap<String, SdkMcpServerConfig> => "sdkMcpServerConfigs",
        /// Tools of those servers, so that the engine need not ask for them.
        pub sdk_mcp_server_manifests ? BTreeMap<String, SdkMcpServerManifest>
            => "sdkMcpServerManifests",
        /// `host_per_send` if the manifests were made for this very request.
        pub sdk_mcp_server_manifests_origin ? String => "sdkMcpServerManifestsOrigin",
        /// Schema of the structured output; absent for plain text.
        pub json_schema ? Object => "jsonSchema",
        /// Parts of the system prompt. Absent, the engine uses its own; `[""]` leaves almost
        /// nothing.
        pub system_prompt ? Vec<String> => "systemPrompt",
        /// Text after the engine's own system prompt.
        pub append_system_prompt ? String => "appendSystemPrompt",
        /// `false` to build the system prompt anew for each request; by default it is recorded once
        /// and reused.
        pub system_prompt_snapshot ? bool => "systemPromptSnapshot",
        /// Text that replaces the engine's description of plan mode.
        pub plan_mode_instructions ? String => "planModeInstructions",
        /// Names the model may use, each with the tool it stands for.
        pub tool_aliases ? BTreeMap<String, String> => "toolAliases",
        /// `true` to move what differs from user to user out of the system prompt, so that the
        /// cache is shared.
        pub exclude_dynamic_sections ? bool => "excludeDynamicSections",
        /// Sub-agents of the host, by name.
        pub agents ? BTreeMap<String, AgentDefinition>,
        /// Title of a new session; none is generated then.
        pub title ? String,
        /// Names of the skills to offer; absent, all are offered.
        pub skills ? Vec<String>,
        /// `true` to get [`PromptSuggestionMessage`](crate::message::PromptSuggestionMessage) lines
        /// after turns.
        pub prompt_suggestions ? bool => "promptSuggestions",
        /// `true` to get summaries in [`TaskProgress`](crate::system::TaskProgress); each costs a
        /// request.
        pub agent_progress_summaries ? bool => "agentProgressSummaries",
        /// `true` to get text and reasoning of sub-agents too, not only their tool calls.
        pub forward_subagent_text ? bool => "forwardSubagentText",
        /// Kinds of dialogs the host can show; no others are requested.
        pub supported_dialog_kinds ? Vec<String> => "supportedDialogKinds",
        /// `true` if the host can stop single tasks: an interrupt then spares those in the
        /// background.
        pub per_task_stop_affordance ? bool => "perTaskStopAffordance",
        /// Plugins to load; only with `--await-initialize`.
        pub plugins ? Vec<PluginConfig>,
    }
}

wire_struct! {
    /// Settings of an MCP server in the host.
    pub struct SdkMcpServerConfig {
        /// Limit on a tool call, in milliseconds.
        pub timeout ? Number,
        /// Permissions of single tools.
        pub tools ? Vec<McpToolPolicy>,
    }
}

wire_struct! {
    /// The answers an MCP server in the host would give.
    pub struct SdkMcpServerManifest {
        /// Result of the JSON-RPC method `initialize`.
        pub initialize_result: Object => "initializeResult",
        /// Result of the JSON-RPC method `tools/list`; absent if the server has no tools.
        pub tools_list_result ? Object => "toolsListResult",
    }
}

wire_struct! {
    /// A plugin to load.
    pub struct PluginConfig {
        /// Always `local`.
        pub kind: String => "type",
        /// Directory of the plugin.
        pub path: String,
        /// `true` to leave the plugin's MCP servers out.
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
    /// The engine's description of itself.
    pub struct InitializeResponse {
        /// Slash commands and skills.
        pub commands * Vec<SlashCommand>,
        /// Sub-agents the model can call.
        pub agents * Vec<AgentInfo>,
        /// Output style in use.
        pub output_style ? String,
        /// Output styles to choose from.
        pub available_output_styles * Vec<String>,
        /// Models to choose from.
        pub models * Vec<ModelInfo>,
        /// Account that pays for requests.
        pub account ? AccountInfo,
        /// Process id of the engine.
        pub pid ? u32,
        /// Version of the engine, or of the CLI it stands in for.
        pub claude_code_version ? String,
        /// Mode the session starts in.
        pub current_permission_mode ? PermissionMode,
        /// Set if the request had hooks: `true` if they are registered.
        pub hooks_applied ? bool,
        /// `true` if `onFailure: block` works. Without it, security hooks fail open.
        pub hook_on_failure_supported ? bool,
        /// `true` if an `ask` of a settings hook counts although a hook of the host allows the
        /// call.
        pub other_hook_ask_outranks_host ? bool,
        /// Set if the request had plugins: `true` if all of them are loaded.
        pub plugins_applied ? bool,
        /// Fate of each manifest, such as `parked` or `malformed`.
        pub sdk_mcp_manifests_parked ? BTreeMap<String, String>,
        /// State of the session; `idle` unless the host has joined a running one.
        pub session_state ? SessionState,
        /// Names of optional features; ignore unknown ones.
        pub capabilities ? Vec<String>,
        /// `off`, `on` or `cooldown`; observed as `off`.
        pub fast_mode_state ? String,
        /// Reason fast mode is off; observed as `sdk_opt_in_required`.
        pub fast_mode_disabled_reason ? String,
        /// Directory for the user's own output styles.
        pub user_output_styles_dir ? String,
        /// `true` if the engine reports nothing to its maker.
        pub analytics_disabled ? bool,
        /// Form in which feedback is asked for; observed as `{"kind": "disabled"}`.
        pub feedback_mode ? FeedbackMode,
    }
}

wire_struct! {
    /// The way in which the user is asked for feedback.
    pub struct FeedbackMode {
        /// `disabled` and others.
        pub kind: String,
    }
}
