//! Calls of tools that the engine runs, and their results.

use serde_json::Value;

use super::Content;
use crate::id::ToolUseId;
use crate::wire::wire_struct;

wire_struct! {
    /// The model calls a tool.
    pub struct ToolUseBlock ["type" = "tool_use"] {
        pub id: ToolUseId,
        pub name: String,
        pub input: Value,
        pub caller ? Box<Value>,
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// What a tool returned.
    pub struct ToolResultBlock ["type" = "tool_result"] {
        pub tool_use_id: ToolUseId,
        pub content ? Content,
        pub is_error ? bool,
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

    /// Whether the tool failed.
    pub fn failed(&self) -> bool {
        self.is_error == Some(true)
    }
}
