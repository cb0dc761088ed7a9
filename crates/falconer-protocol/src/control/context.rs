//! The contents of the context window, by size.

use serde_json::Value;

use crate::number::Number;
use crate::wire::wire_struct;

wire_struct! {
    /// The contents of the context window, by size.
    pub struct ContextUsage {
        /// Parts of the window, free space included.
        pub categories * Vec<ContextCategory>,
        /// Tokens in use.
        pub total_tokens: u64 => "totalTokens",
        /// Size of the window that the engine works with, in tokens.
        pub max_tokens ? u64 => "maxTokens",
        /// Size of the model's own window, in tokens.
        pub raw_max_tokens ? u64 => "rawMaxTokens",
        /// Used part of the window, from 0 to 100.
        pub percentage ? Number,
        /// Model whose window it is.
        pub model ? String,
        /// Files of instructions in the context, such as `CLAUDE.md`.
        pub memory_files ? Vec<ContextMemoryFile> => "memoryFiles",
        /// Tools of MCP servers, those not loaded included.
        pub mcp_tools ? Vec<ContextMcpTool> => "mcpTools",
        /// Instructions of MCP servers: `serverName` and estimated `tokens`.
        pub mcp_instructions ? Vec<Value> => "mcpInstructions",
        /// Sub-agents the model can call.
        pub agents ? Vec<ContextAgent>,
        /// Number of slash commands and their `tokens`.
        pub slash_commands ? Value => "slashCommands",
        /// Number of skills, their `tokens`, and one entry for each.
        pub skills ? Value,
        /// Built-in tools whose schema is loaded only on demand.
        pub deferred_builtin_tools ? Vec<Value> => "deferredBuiltinTools",
        /// Built-in tools with their `tokens`.
        pub system_tools ? Vec<Value> => "systemTools",
        /// Sections of the system prompt with their `tokens`.
        pub system_prompt_sections ? Vec<Value> => "systemPromptSections",
        /// Number of tokens at which the engine compacts by itself.
        pub auto_compact_threshold ? u64 => "autoCompactThreshold",
        /// `false` if the engine never compacts by itself.
        pub is_auto_compact_enabled ? bool => "isAutoCompactEnabled",
        /// Origin of the threshold; observed as `model-default` and `auto`.
        pub autocompact_source ? String => "autocompactSource",
        /// Tokens of the messages: tool calls, tool results, attachments and the rest.
        pub message_breakdown ? MessageBreakdown => "messageBreakdown",
        /// Counts of the latest response; `null` before the first one.
        pub api_usage ? ApiUsage => "apiUsage",
        /// Squares of a chart for a terminal.
        pub grid_rows ? Value => "gridRows",
    }
}

wire_struct! {
    /// A part of the context.
    pub struct ContextCategory {
        /// Stable name such as `system_prompt` or `free_space`; absent from older engines.
        pub id ? String,
        /// English label; match on `id` instead.
        pub name: String,
        /// Size in tokens, partly estimated.
        pub tokens: u64,
        /// Name of a colour in the CLI's theme.
        pub color ? String,
        /// `true` if the part is loaded only on demand and does not fill the window yet.
        pub is_deferred ? bool => "isDeferred",
        /// `used`, `free`, `buffer` or `deferred`.
        pub kind ? String,
    }
}

wire_struct! {
    /// A file of instructions.
    pub struct ContextMemoryFile {
        /// Path of the file.
        pub path: String,
        /// Origin of the file, such as `Project` or `User`.
        pub kind ? String => "type",
        /// Size in tokens.
        pub tokens: u64,
    }
}

wire_struct! {
    /// A tool of an MCP server.
    pub struct ContextMcpTool {
        /// Full name, `mcp__SERVER__TOOL`.
        pub name: String,
        /// Server that offers the tool.
        pub server_name ? String => "serverName",
        /// Size of its description and schema, in tokens.
        pub tokens: u64,
        /// `false` if the model has to search for the tool first.
        pub is_loaded ? bool => "isLoaded",
    }
}

wire_struct! {
    /// A sub-agent.
    pub struct ContextAgent {
        /// Name by which the model calls it.
        pub agent_type: String => "agentType",
        /// Origin of the definition, such as `built-in` or a settings source.
        pub source ? String,
        /// Plugin that brought it; absent if none did.
        pub plugin_id ? String => "pluginId",
        /// File of the definition on the engine's machine; absent for built-in ones.
        pub path ? String,
        /// Size of its description, in tokens.
        pub tokens: u64,
    }
}

wire_struct! {
    /// The parts of the messages of a conversation, in tokens.
    pub struct MessageBreakdown {
        /// Calls of tools.
        pub tool_call_tokens: u64 => "toolCallTokens",
        /// Results of tools.
        pub tool_result_tokens: u64 => "toolResultTokens",
        /// Attachments of prompts.
        pub attachment_tokens: u64 => "attachmentTokens",
        /// Words of the model.
        pub assistant_message_tokens: u64 => "assistantMessageTokens",
        /// Words of the user.
        pub user_message_tokens: u64 => "userMessageTokens",
        /// Text put in from elsewhere.
        pub redirected_context_tokens: u64 => "redirectedContextTokens",
        /// The rest.
        pub unattributed_tokens: u64 => "unattributedTokens",
        /// Calls and results by tool.
        pub tool_calls_by_type: Vec<ContextToolCalls> => "toolCallsByType",
        /// Attachments by kind.
        pub attachments_by_type: Vec<Value> => "attachmentsByType",
    }
}

wire_struct! {
    /// The calls of one tool in a conversation.
    pub struct ContextToolCalls {
        /// The tool.
        pub name: String,
        /// Tokens of its calls.
        pub call_tokens: u64 => "callTokens",
        /// Tokens of their results.
        pub result_tokens: u64 => "resultTokens",
    }
}

wire_struct! {
    /// Token counts of the latest API response.
    pub struct ApiUsage {
        /// Input tokens outside the cache.
        pub input_tokens ? u64,
        /// Tokens generated.
        pub output_tokens ? u64,
        /// Input tokens written to the cache.
        pub cache_creation_input_tokens ? u64,
        /// Input tokens read from the cache.
        pub cache_read_input_tokens ? u64,
    }
}
