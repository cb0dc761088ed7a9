//! The beginning of a turn.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::id::{MessageUuid, SessionId};
use crate::permission::PermissionMode;
use crate::wire::wire_struct;

wire_struct! {
    /// A turn begins; says with what. Comes once per turn, not before the first prompt.
    pub struct Init ["type" = "system", "subtype" = "init"] {
        pub cwd: String,
        pub session_id ? SessionId,
        pub tools * Vec<String>,
        /// What tools take, by name. Only the native engine says so, once, to a host in its process.
        pub tool_schemas ? BTreeMap<String, Value>,
        pub mcp_servers * Vec<InitMcpServer>,
        pub model ? String,
        pub permission_mode ? PermissionMode => "permissionMode",
        pub slash_commands * Vec<String>,
        pub terminal_slash_commands ? Vec<String>,
        /// Where the API key comes from; `none` without one.
        pub api_key_source ? String => "apiKeySource",
        pub claude_code_version ? String,
        pub output_style ? String,
        pub agents ? Vec<String>,
        pub skills ? Vec<String>,
        pub plugins ? Vec<InitPlugin>,
        pub plugin_errors ? Vec<PluginError>,
        /// What this engine can do beyond the base; for feature detection.
        pub capabilities ? Vec<String>,
        pub betas ? Vec<String>,
        pub effort ? String,
        pub analytics_disabled ? bool,
        pub product_feedback_disabled ? bool,
        pub uuid ? MessageUuid,
        pub memory_paths ? Value,
        pub original_cwd ? String,
        pub additional_directories ? Vec<String>,
        pub messaging_socket_path ? String,
        pub fast_mode_state ? String,
        pub fast_mode_disabled_reason ? String,
        pub per_turn_effort_active ? bool,
        pub ultrathink_available ? bool,
        pub ultrathink_typed_raises ? bool,
        pub view_mode ? String,
        pub user_message_uuids ? Vec<MessageUuid>,
    }
}

wire_struct! {
    /// An MCP server and whether it is connected.
    pub struct InitMcpServer {
        pub name: String,
        pub status: String,
        pub source ? String,
    }
}

wire_struct! {
    /// A plugin that was loaded.
    pub struct InitPlugin {
        pub name: String,
        pub path ? String,
        pub source ? String,
        pub version ? String,
    }
}

wire_struct! {
    /// A plugin that was not loaded.
    pub struct PluginError {
        pub plugin: String,
        pub kind ? String => "type",
        pub message ? String,
        pub path ? String,
        pub managed_lock ? Value,
    }
}
