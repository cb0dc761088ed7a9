//! The model's answer, one finished block per line.

use serde_json::Value;

use super::AssistantError;
use crate::content::{ContentBlock, ToolUseBlock};
use crate::id::{AgentId, MessageUuid, SessionId, ToolUseId};
use crate::number::Number;
use crate::usage::Usage;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// A finished block of the model's answer.
    ///
    /// The blocks of one API response come on a line each and share `message.id`. The usage in
    /// them is that of the beginning of the response: take sums from the result.
    pub struct AssistantMessage ["type" = "assistant"] {
        /// API message with exactly one block of content.
        pub message: ApiMessage,
        /// Tool call whose sub-agent is speaking; `null` in the main conversation.
        pub parent_tool_use_id ? ToolUseId,
        /// Session that wrote this line.
        pub session_id ? SessionId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// ISO 8601 time at which the block was finished, by the engine's clock. For display, not
        /// for ordering.
        pub timestamp ? String,
        /// Id that the API gave the HTTP request; absent for synthetic messages.
        pub request_id ? String,
        /// Class of the failure, if the text is an error text.
        pub error ? AssistantError,
        /// `true` if the engine wrote the text because the API failed. Never `false`.
        pub is_api_error_message ? bool,
        /// HTTP status of the failed request; absent if no answer came.
        pub api_error_status ? u64,
        /// Error type in the API's answer, such as `rate_limit_error`.
        pub api_error_type ? String,
        /// Failure without an HTTP status, observed as `connection_failed` and `max_output_tokens`.
        pub api_error ? String,
        /// Details of `api_error`, observed as `{"cut": "output_limit"}`.
        pub api_error_params ? Box<Value>,
        /// `true` if the turn was interrupted in the middle of this block: the text may end in the
        /// middle of a word.
        pub aborted ? bool,
        /// Ids of earlier lines that this one replaces, after a refusal or a tool call that could
        /// not be parsed.
        pub supersedes ? Vec<MessageUuid>,
        /// `message.id` of the answer that was refused and that this one replaces.
        pub refused_message_id ? String,
        /// Prompt that this turn answers; only on the first line of the turn, if the prompt had a
        /// uuid.
        pub user_message_uuid ? MessageUuid,
        /// All prompts this turn has taken up so far; present together with `user_message_uuid`.
        pub user_message_uuids ? Vec<MessageUuid>,
        /// Set if the turn goes on with one that a restart interrupted.
        pub resume_reason ? String,
        /// `true` if this answer goes on inside the reasoning of one that ran into its token limit.
        pub resumed_from_incomplete_thinking ? bool,
        /// Sub-agent that is speaking, equal to the `task_id` of its task; absent in the main
        /// conversation.
        pub agent_id ? AgentId,
        /// Type of that sub-agent, such as `general-purpose`.
        pub subagent_type ? String,
        /// Short description that the call of the sub-agent carried.
        pub task_description ? String,
        /// Display names of MCP tools called here: `id`, `display_name`, `server_display_name`,
        /// `tool_name`.
        pub tool_use_meta ? Vec<ToolUseMeta>,
        /// Form in which reasoning is shown; observed as `updates`.
        pub thinking_display ? String,
        /// Milliseconds the model spent on this reasoning block.
        pub thinking_duration_ms ? u64,
        /// Context window by category, as the answer to `/context`.
        pub context_usage ? Box<ContextReport>,
        /// Structured report of a local command such as `/usage`; not in the recorded sessions.
        pub usage_report ? Box<Value>,
        /// Output of a slash command inside its `<local-command-stdout>` tags.
        pub local_command_source ? String,
        /// Slash command that produced this line: `command` and `args`.
        pub local_command_run ? Box<LocalCommandRun>,
        /// Set if a slash command did not succeed; `kind` is `failed` or `unavailable_headless`.
        pub local_command_outcome ? Box<LocalCommandOutcome>,
    }
}

impl AssistantMessage {
    /// All text blocks put together.
    pub fn text(&self) -> String {
        let blocks = self.message.content.iter();
        blocks.filter_map(ContentBlock::as_text).collect()
    }

    /// The tool calls.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUseBlock> {
        let blocks = self.message.content.iter();
        blocks.filter_map(ContentBlock::as_tool_use)
    }

    /// Returns `true` if the engine wrote it and not the model: an API error or a command's output.
    pub fn is_synthetic(&self) -> bool {
        self.message.model.as_deref() == Some("<synthetic>")
    }
}

wire_struct! {
    /// The names people know a called tool by.
    pub struct ToolUseMeta {
        /// The call.
        pub id ? ToolUseId,
        /// The name of the tool for people.
        pub display_name ? String,
        /// The name of its MCP server for people.
        pub server_display_name ? String,
        /// The name of the tool towards its server.
        pub tool_name ? String,
    }
}

wire_struct! {
    /// The contents of the context, in numbers.
    pub struct ContextReport {
        /// The model whose context it is.
        pub model: String,
        /// Tokens in use.
        pub total_tokens: u64,
        /// Size of the window, in tokens.
        pub raw_max_tokens: u64,
        /// Used part of the window, from 0 to 100.
        pub percentage: Number,
        /// The parts.
        pub categories: Vec<ContextReportCategory>,
        /// Tools of MCP servers.
        pub mcp_tools: Vec<Value>,
        /// Files of instructions.
        pub memory_files: Vec<Value>,
        /// Sub-agents.
        pub agents: Vec<Value>,
        /// Skills.
        pub skills: Vec<Value>,
    }
}

wire_struct! {
    /// A part of the context.
    pub struct ContextReportCategory {
        /// Name for people.
        pub name: String,
        /// Tokens of the part.
        pub tokens: u64,
        /// `used`, `free`, `buffer` or `deferred`.
        pub kind ? String,
    }
}

wire_struct! {
    /// A slash command that ran.
    pub struct LocalCommandRun {
        /// Its name, without the slash.
        pub command: String,
        /// The text after the name.
        pub args: String,
    }
}

wire_struct! {
    /// The reason a slash command did not run.
    pub struct LocalCommandOutcome {
        /// `unavailable_headless` and others.
        pub kind: String,
    }
}

wire_struct! {
    /// A message of the API.
    pub struct ApiMessage {
        /// Id of the API response, shared by all lines with its blocks. A generated one for
        /// synthetic messages.
        pub id ? String,
        /// Always `message`.
        pub kind ? String => "type",
        /// Always `assistant`.
        pub role ? String,
        /// Model that answered; `<synthetic>` if the engine wrote the text.
        pub model ? String,
        /// One block in an `assistant` line, none yet in `message_start`.
        pub content: Vec<ContentBlock>,
        /// `null` in the lines of a streamed answer; take it from the result.
        pub stop_reason ? StopReason,
        /// Sequence that was hit, with [`StopReason::StopSequence`]; otherwise `null`.
        pub stop_sequence ? String,
        /// Category and explanation of a refusal; `null` otherwise.
        pub stop_details ? Box<Value>,
        /// Usage at the start of the response, repeated on each of its lines; do not add it up.
        pub usage ? Usage,
        /// Observed as `null` only.
        pub context_management ? Box<Value>,
        /// Observed as `null`, and only in synthetic messages.
        pub diagnostics ? Box<Value>,
        /// Container in which the API executed code; observed as `null`.
        pub container ? Box<Value>,
    }
}

open_enum! {
    /// The reason the model stopped.
    pub enum StopReason {
        /// The answer is complete.
        EndTurn = "end_turn",
        /// The model calls tools and waits for their results.
        ToolUse = "tool_use",
        /// The answer reached the token limit of the request.
        MaxTokens = "max_tokens",
        /// A stop sequence was generated. The engine also writes it on its own error texts.
        StopSequence = "stop_sequence",
        /// The API paused a long turn; sending the answer back continues it.
        PauseTurn = "pause_turn",
        /// The model's safeguards stopped the answer.
        Refusal = "refusal",
        /// The API stopped to compact the context.
        Compaction = "compaction",
        /// The context window was full before the answer was complete.
        ModelContextWindowExceeded = "model_context_window_exceeded",
        /// A hook put the tool call off; the engine's own value.
        ToolDeferred = "tool_deferred",
    }
}
