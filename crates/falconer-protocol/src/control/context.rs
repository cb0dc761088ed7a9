//! What fills the context.

use serde_json::Value;

use crate::number::Number;
use crate::wire::wire_struct;

wire_struct! {
    /// What fills the context.
    pub struct ContextUsage {
        pub categories * Vec<ContextCategory>,
        pub total_tokens: u64 => "totalTokens",
        pub max_tokens ? u64 => "maxTokens",
        pub raw_max_tokens ? u64 => "rawMaxTokens",
        pub percentage ? Number,
        pub model ? String,
        pub memory_files ? Vec<ContextMemoryFile> => "memoryFiles",
        pub mcp_tools ? Vec<ContextMcpTool> => "mcpTools",
        pub mcp_instructions ? Vec<Value> => "mcpInstructions",
        pub agents ? Vec<ContextAgent>,
        pub slash_commands ? Value => "slashCommands",
        pub skills ? Value,
        pub deferred_builtin_tools ? Vec<Value> => "deferredBuiltinTools",
        pub system_tools ? Vec<Value> => "systemTools",
        pub system_prompt_sections ? Vec<Value> => "systemPromptSections",
        pub auto_compact_threshold ? u64 => "autoCompactThreshold",
        pub is_auto_compact_enabled ? bool => "isAutoCompactEnabled",
        pub autocompact_source ? String => "autocompactSource",
        pub message_breakdown ? Value => "messageBreakdown",
        pub api_usage ? ApiUsage => "apiUsage",
        /// A picture for a terminal.
        pub grid_rows ? Value => "gridRows",
    }
}

wire_struct! {
    /// A part of the context.
    pub struct ContextCategory {
        pub id ? String,
        pub name: String,
        pub tokens: u64,
        pub color ? String,
        pub is_deferred ? bool => "isDeferred",
        /// `used`, `free`, `buffer` or `deferred`.
        pub kind ? String,
    }
}

wire_struct! {
    /// A file of instructions.
    pub struct ContextMemoryFile {
        pub path: String,
        pub kind ? String => "type",
        pub tokens: u64,
    }
}

wire_struct! {
    /// A tool of an MCP server.
    pub struct ContextMcpTool {
        pub name: String,
        pub server_name ? String => "serverName",
        pub tokens: u64,
        pub is_loaded ? bool => "isLoaded",
    }
}

wire_struct! {
    /// A sub-agent.
    pub struct ContextAgent {
        pub agent_type: String => "agentType",
        pub source ? String,
        pub plugin_id ? String => "pluginId",
        pub path ? String,
        pub tokens: u64,
    }
}

wire_struct! {
    /// What the API said last.
    pub struct ApiUsage {
        pub input_tokens ? u64,
        pub output_tokens ? u64,
        pub cache_creation_input_tokens ? u64,
        pub cache_read_input_tokens ? u64,
    }
}
