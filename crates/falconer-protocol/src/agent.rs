//! Sub-agents that the host defines.

use serde_json::Value;

use crate::permission::PermissionMode;
use crate::wire::wire_struct;

wire_struct! {
    /// A sub-agent.
    pub struct AgentDefinition {
        /// When the model should use it.
        pub description: String,
        /// Its system prompt.
        pub prompt: String,
        pub tools ? Vec<String>,
        pub disallowed_tools ? Vec<String> => "disallowedTools",
        pub model ? String,
        /// Names of known servers, or objects of name to configuration.
        pub mcp_servers ? Vec<Value> => "mcpServers",
        pub skills ? Vec<String>,
        pub initial_prompt ? String => "initialPrompt",
        pub max_turns ? u64 => "maxTurns",
        pub auto_compact_window ? u64 => "autoCompactWindow",
        pub background ? bool,
        pub omit_claude_md ? bool => "omitClaudeMd",
        /// `user`, `project` or `local`.
        pub memory ? String,
        /// A level, or a number of tokens.
        pub effort ? Value,
        pub permission_mode ? PermissionMode => "permissionMode",
        pub observer ? String,
        pub observer_message ? String => "observerMessage",
        pub critical_system_reminder ? String => "criticalSystemReminder_EXPERIMENTAL",
    }
}

impl AgentDefinition {
    /// A sub-agent with the tools and the model of its caller.
    pub fn new(description: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            prompt: prompt.into(),
            ..Self::default()
        }
    }
}
