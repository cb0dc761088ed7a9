//! Calls of tools that the API runs, and their results.
//!
//! The results are passed through: their shape belongs to the API and changes often.

use serde_json::Value;

use super::Content;
use crate::id::ToolUseId;
use crate::wire::wire_struct;

wire_struct! {
    /// A call of a tool that the API runs.
    pub struct ServerToolUseBlock ["type" = "server_tool_use"] {
        pub id: ToolUseId,
        pub name: String,
        pub input: Value,
        pub caller ? Box<Value>,
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// A call of an MCP tool that the API makes.
    pub struct McpToolUseBlock ["type" = "mcp_tool_use"] {
        pub id: ToolUseId,
        pub name: String,
        pub server_name: String,
        pub input: Value,
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// What an MCP tool returned to the API.
    pub struct McpToolResultBlock ["type" = "mcp_tool_result"] {
        pub tool_use_id: ToolUseId,
        pub content ? Content,
        pub is_error ? bool,
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// The name of a tool that was found.
    pub struct ToolReferenceBlock ["type" = "tool_reference"] {
        pub tool_name: String,
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// A file put into the container of executed code.
    pub struct ContainerUploadBlock ["type" = "container_upload"] {
        pub file_id: String,
        pub cache_control ? Box<Value>,
    }
}

macro_rules! server_results {
    ($($(#[$meta:meta])* $name:ident = $tag:literal;)+) => {$(
        wire_struct! {
            $(#[$meta])*
            pub struct $name ["type" = $tag] {
                pub tool_use_id: ToolUseId,
                pub content: Value,
                pub caller ? Box<Value>,
                pub cache_control ? Box<Value>,
            }
        }
    )+};
}

server_results! {
    /// What a web search found, or its error.
    WebSearchToolResultBlock = "web_search_tool_result";
    /// What was fetched from the web, or the error.
    WebFetchToolResultBlock = "web_fetch_tool_result";
    /// What executed code returned.
    CodeExecutionToolResultBlock = "code_execution_tool_result";
    /// What an executed command returned.
    BashCodeExecutionToolResultBlock = "bash_code_execution_tool_result";
    /// What the API's text editor returned.
    TextEditorCodeExecutionToolResultBlock = "text_editor_code_execution_tool_result";
    /// Which tools a search for tools found.
    ToolSearchToolResultBlock = "tool_search_tool_result";
    /// What an advisor model said.
    AdvisorToolResultBlock = "advisor_tool_result";
}
