//! Calls of tools that the engine runs, and their results.

use serde_json::Value;

use super::Content;
use crate::id::ToolUseId;
use crate::wire::wire_struct;

wire_struct! {
    /// The model calls a tool.
    pub struct ToolUseBlock ["type" = "tool_use"] {
        /// Id that hooks, permission requests and the [`ToolResultBlock`] repeat.
        pub id: ToolUseId,
        /// Name of the tool; MCP tools are called `mcp__SERVER__TOOL`.
        pub name: String,
        /// Arguments as the model wrote them. A hook or a permission answer may replace them
        /// afterwards; this block keeps the original.
        pub input: Value,
        /// Origin of the call: the model itself, or code that the API executes. Absent from older
        /// API versions.
        pub caller ? Box<Value>,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// The result of a tool call.
    pub struct ToolResultBlock ["type" = "tool_result"] {
        /// Id of the [`ToolUseBlock`] that this answers.
        pub tool_use_id: ToolUseId,
        /// Output for the model. A string for most tools, blocks for MCP tools, sub-agents and
        /// pictures; absent if there is none.
        pub content ? Content,
        /// `true` if the call failed, was denied or was interrupted. Absent counts as success.
        pub is_error ? bool,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
        pub cache_control ? Box<Value>,
    }
}

impl ToolResultBlock {
    /// The result of the call `tool_use_id`.
    pub fn new(tool_use_id: impl Into<ToolUseId>, content: impl Into<Content>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content: Some(content.into()),
            ..Self::default()
        }
    }

    /// The text of the result.
    pub fn text(&self) -> String {
        self.content.as_ref().map(Content::text).unwrap_or_default()
    }

    /// Returns `true` if the tool failed or was not allowed to run.
    pub fn failed(&self) -> bool {
        self.is_error == Some(true)
    }
}
