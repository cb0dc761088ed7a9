//! The beginning of a turn.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::id::{MessageUuid, SessionId};
use crate::permission::PermissionMode;
use crate::wire::wire_struct;

wire_struct! {
    /// The start of a turn and its settings. Comes once per turn, not before the first prompt.
    pub struct Init ["type" = "system", "subtype" = "init"] {
        /// Working directory at the start of the turn.
        pub cwd: String,
        /// Session of the turn; changes after `/clear`.
        pub session_id ? SessionId,
        /// Names of the tools. The sub-agent tool is listed as `Task` although the model calls it
        /// `Agent`.
        pub tools * Vec<String>,
        /// Input schemas of the tools, by name. Only from the native engine, once, to a host in its
        /// process.
        pub tool_schemas ? BTreeMap<String, Value>,
        /// MCP servers, those that failed included.
        pub mcp_servers * Vec<InitMcpServer>,
        /// Model id of the turn.
        pub model ? String,
        /// Mode at the start of the turn.
        pub permission_mode ? PermissionMode => "permissionMode",
        /// Names without the slash, skills included.
        pub slash_commands * Vec<String>,
        /// Slash commands that make sense in a terminal only; part of `slash_commands`.
        pub terminal_slash_commands ? Vec<String>,
        /// Origin of the API key, such as `ANTHROPIC_API_KEY`; `none` without one.
        pub api_key_source ? String => "apiKeySource",
        /// Version of the engine, or of the CLI it stands in for.
        pub claude_code_version ? String,
        /// Output style in use; observed as `default`.
        pub output_style ? String,
        /// Names of the sub-agents the model can call.
        pub agents ? Vec<String>,
        /// Names of the skills.
        pub skills ? Vec<String>,
        /// Plugins that were loaded.
        pub plugins ? Vec<InitPlugin>,
        /// Plugins that were not loaded; absent in the recorded sessions.
        pub plugin_errors ? Vec<PluginError>,
        /// Names of optional features of the engine; ignore unknown ones.
        pub capabilities ? Vec<String>,
        /// Beta features of the API that are switched on; absent if none are.
        pub betas ? Vec<String>,
        /// Effort for the next prompt; `null` or absent if none is set.
        pub effort ? String,
        /// `true` if the engine reports nothing to its maker.
        pub analytics_disabled ? bool,
        /// `true` if the engine does not ask for feedback.
        pub product_feedback_disabled ? bool,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Directories of memory files; observed with the key `auto`.
        pub memory_paths ? Value,
        /// Directory the session started in.
        pub original_cwd ? String,
        /// Working directories beside `cwd`.
        pub additional_directories ? Vec<String>,
        /// Unix socket for messages from other sessions.
        pub messaging_socket_path ? String,
        /// `off`, `on` or `cooldown`; observed as `off`.
        pub fast_mode_state ? String,
        /// Reason fast mode is off; observed as `sdk_opt_in_required`.
        pub fast_mode_disabled_reason ? String,
        /// `true` if the effort can change from turn to turn.
        pub per_turn_effort_active ? bool,
        /// Observed as `false` only.
        pub ultrathink_available ? bool,
        /// Observed as `false` only.
        pub ultrathink_typed_raises ? bool,
        /// `default`, or `focus` if the user sees final messages only.
        pub view_mode ? String,
        /// Prompts of the turn that carried a uuid; absent if none did.
        pub user_message_uuids ? Vec<MessageUuid>,
    }
}

wire_struct! {
    /// An MCP server and its state.
    pub struct InitMcpServer {
        /// Name of the server.
        pub name: String,
        /// State, as in [`McpConnection`](crate::mcp::McpConnection).
        pub status: String,
        /// Origin of the configuration; observed as `sdk` and `dynamic`.
        pub source ? String,
    }
}

wire_struct! {
    /// A plugin that was loaded.
    pub struct InitPlugin {
        /// Name of the plugin.
        pub name: String,
        /// Directory, or `builtin`.
        pub path ? String,
        /// Name and marketplace, such as `NAME@builtin`.
        pub source ? String,
        /// Version in the plugin's manifest; absent if it has none.
        pub version ? String,
    }
}

wire_struct! {
    /// A plugin that was not loaded.
    pub struct PluginError {
        /// Name of the plugin.
        pub plugin: String,
        /// Kind of error, for programs.
        pub kind ? String => "type",
        /// Text for people.
        pub message ? String,
        /// Directory that was given; only if nothing of it was loaded.
        pub path ? String,
        /// Entry of the managed settings that took the plugin's place.
        pub managed_lock ? Value,
    }
}
