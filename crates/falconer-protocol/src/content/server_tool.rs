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
        /// Id that the result block repeats; starts with `srvtoolu_`.
        pub id: ToolUseId,
        /// Name of the API's tool, such as `web_search`.
        pub name: String,
        /// Arguments of the call; the host has nothing to run or approve.
        pub input: Value,
        /// Origin of the call: the model itself, or code that the API executes. Absent from older
        /// API versions.
        pub caller ? Box<Value>,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// A call of an MCP tool that the API makes.
    pub struct McpToolUseBlock ["type" = "mcp_tool_use"] {
        /// Id that the [`McpToolResultBlock`] repeats.
        pub id: ToolUseId,
        /// Name of the tool on its server, without the `mcp__` prefix.
        pub name: String,
        /// Name of the server in the API request.
        pub server_name: String,
        /// Arguments of the call, in the schema of the server's tool.
        pub input: Value,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// The result of an MCP tool that the API called.
    pub struct McpToolResultBlock ["type" = "mcp_tool_result"] {
        /// Id of the [`McpToolUseBlock`] that this answers.
        pub tool_use_id: ToolUseId,
        /// Output of the tool; absent if it returned nothing.
        pub content ? Content,
        /// Set if the tool failed; absent counts as success.
        pub is_error ? bool,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// The name of a tool that was found.
    pub struct ToolReferenceBlock ["type" = "tool_reference"] {
        /// Name under which the model may call the tool from now on.
        pub tool_name: String,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// A file put into the container of executed code.
    pub struct ContainerUploadBlock ["type" = "container_upload"] {
        /// Id of the file in the API's file store.
        pub file_id: String,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
        pub cache_control ? Box<Value>,
    }
}

macro_rules! server_results {
    ($($(#[$meta:meta])* $name:ident = $tag:literal;)+) => {$(
        wire_struct! {
            $(#[$meta])*
            pub struct $name ["type" = $tag] {
                /// Id of the [`ServerToolUseBlock`] that this answers.
                pub tool_use_id: ToolUseId,
                /// Payload of the tool, or an object with an `error_code` if it failed.
                pub content: Value,
                /// Origin of the call, as in [`ServerToolUseBlock::caller`].
                pub caller ? Box<Value>,
                /// Marks the end of a prefix that the API is to cache; absent in what the model says.
                pub cache_control ? Box<Value>,
            }
        }
    )+};
}

server_results! {
    /// The hits of a web search, or its error.
    WebSearchToolResultBlock = "web_search_tool_result";
    /// A page fetched from the web, or the error.
    WebFetchToolResultBlock = "web_fetch_tool_result";
    /// The output of code that the API executed.
    CodeExecutionToolResultBlock = "code_execution_tool_result";
    /// The output of a shell command in the API's container.
    BashCodeExecutionToolResultBlock = "bash_code_execution_tool_result";
    /// The result of the API's text editor.
    TextEditorCodeExecutionToolResultBlock = "text_editor_code_execution_tool_result";
    /// The tools that a tool search found.
    ToolSearchToolResultBlock = "tool_search_tool_result";
    /// The advice of an advisor model.
    AdvisorToolResultBlock = "advisor_tool_result";
}
