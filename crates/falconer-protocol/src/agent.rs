//! Sub-agents that the host defines.

use serde_json::Value;

use crate::permission::PermissionMode;
use crate::wire::wire_struct;

wire_struct! {
    /// A sub-agent.
    pub struct AgentDefinition {
        /// Text by which the model decides to use this sub-agent.
        pub description: String,
        /// Its system prompt.
        pub prompt: String,
        /// Names of the tools it may use; absent, it has those of its caller.
        pub tools ? Vec<String>,
        /// Names taken away from `tools`; `mcp__SERVER` takes away a whole server.
        pub disallowed_tools ? Vec<String> => "disallowedTools",
        /// Alias or model id; `inherit` for the caller's model, absent for the engine's default.
        pub model ? String,
        /// Names of known servers, or objects of name to configuration.
        pub mcp_servers ? Vec<Value> => "mcpServers",
        /// Names of skills whose text is in its context from the start.
        pub skills ? Vec<String>,
        /// First prompt, sent by itself if this agent runs the main conversation.
        pub initial_prompt ? String => "initialPrompt",
        /// Limit on API round trips; absent for no limit of its own.
        pub max_turns ? u64 => "maxTurns",
        /// Number of tokens at which its conversation is compacted; can only lower the limit it
        /// inherits.
        pub auto_compact_window ? u64 => "autoCompactWindow",
        /// `true` to run it in the background whenever it is called.
        pub background ? bool,
        /// `true` to start it without the user's and the project's `CLAUDE.md`; managed files stay.
        pub omit_claude_md ? bool => "omitClaudeMd",
        /// Directory of its memory files: `user`, `project` or `local`.
        pub memory ? String,
        /// Level such as `high`, or an integer.
        pub effort ? Value,
        /// Mode while it runs; absent, it has that of its caller.
        pub permission_mode ? PermissionMode => "permissionMode",
        /// Agent types, separated by commas, that watch it in the background.
        pub observer ? String,
        /// Text added to each digest that an observer gets.
        pub observer_message ? String => "observerMessage",
        /// Reminder added to the system prompt; experimental.
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
