//! The set of blocks, and content that is a string or blocks.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{
    AdvisorToolResultBlock, BashCodeExecutionToolResultBlock, CodeExecutionToolResultBlock,
    CompactionBlock, ContainerUploadBlock, DocumentBlock, ImageBlock, McpToolResultBlock,
    McpToolUseBlock, RedactedThinkingBlock, SearchResultBlock, ServerToolUseBlock, TextBlock,
    TextEditorCodeExecutionToolResultBlock, ThinkingBlock, ToolReferenceBlock, ToolResultBlock,
    ToolSearchToolResultBlock, ToolUseBlock, WebFetchToolResultBlock, WebSearchToolResultBlock,
};
use crate::json::Reader;
use crate::wire::{self, Mode, Wire, tagged_enum};

tagged_enum! {
    /// One block of content.
    pub enum ContentBlock by "type" {
        /// Text.
        Text(TextBlock) = "text",
        /// The model's reasoning.
        Thinking(ThinkingBlock) = "thinking",
        /// Reasoning that only the API can read.
        RedactedThinking(RedactedThinkingBlock) = "redacted_thinking",
        /// A call of a tool that the engine runs.
        ToolUse(ToolUseBlock) = "tool_use",
        /// The result of such a tool.
        ToolResult(ToolResultBlock) = "tool_result",
        /// A picture.
        Image(Box<ImageBlock>) = "image",
        /// A document.
        Document(Box<DocumentBlock>) = "document",
        /// A search result that the model may cite.
        SearchResult(Box<SearchResultBlock>) = "search_result",
        /// A call of a tool that the API runs.
        ServerToolUse(Box<ServerToolUseBlock>) = "server_tool_use",
        /// The hits of a web search.
        WebSearchToolResult(Box<WebSearchToolResultBlock>) = "web_search_tool_result",
        /// A page fetched from the web.
        WebFetchToolResult(Box<WebFetchToolResultBlock>) = "web_fetch_tool_result",
        /// The output of code that the API executed.
        CodeExecutionToolResult(Box<CodeExecutionToolResultBlock>) = "code_execution_tool_result",
        /// The output of a shell command in the API's container.
        BashCodeExecutionToolResult(Box<BashCodeExecutionToolResultBlock>)
            = "bash_code_execution_tool_result",
        /// The result of the API's text editor.
        TextEditorCodeExecutionToolResult(Box<TextEditorCodeExecutionToolResultBlock>)
            = "text_editor_code_execution_tool_result",
        /// The tools that a tool search found.
        ToolSearchToolResult(Box<ToolSearchToolResultBlock>) = "tool_search_tool_result",
        /// The name of a tool that was found.
        ToolReference(ToolReferenceBlock) = "tool_reference",
        /// A call of an MCP tool that the API makes.
        McpToolUse(Box<McpToolUseBlock>) = "mcp_tool_use",
        /// The result of such an MCP tool.
        McpToolResult(Box<McpToolResultBlock>) = "mcp_tool_result",
        /// The advice of an advisor model.
        AdvisorToolResult(Box<AdvisorToolResultBlock>) = "advisor_tool_result",
        /// A file put into the container of executed code.
        ContainerUpload(ContainerUploadBlock) = "container_upload",
        /// A summary that stands for earlier messages.
        Compaction(CompactionBlock) = "compaction",
    }
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock::new(text))
    }

    /// The text, if it is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// The call, if it is a call of a tool that the engine runs.
    pub fn as_tool_use(&self) -> Option<&ToolUseBlock> {
        match self {
            Self::ToolUse(block) => Some(block),
            _ => None,
        }
    }

    /// The result, if it is one of a tool that the engine ran.
    pub fn as_tool_result(&self) -> Option<&ToolResultBlock> {
        match self {
            Self::ToolResult(block) => Some(block),
            _ => None,
        }
    }
}

/// Content that is a string, or a list of blocks.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A string.
    Text(String),
    /// Blocks.
    Blocks(Vec<ContentBlock>),
}

impl Content {
    /// The text: the string, or all text blocks put together.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => blocks.iter().filter_map(ContentBlock::as_text).collect(),
        }
    }

    /// The blocks; none if it is a string.
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<ContentBlock>> for Content {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Blocks(blocks)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Blocks(blocks) => blocks.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}

const EXPECTED: &str = "a string or a list of blocks";

impl Wire for Content {
    fn read(reader: &mut Reader<'_>) -> serde_json::Result<Self> {
        if let Some(text) = reader.text()? {
            return Ok(Self::Text(text.into_owned()));
        }
        let mut blocks = Vec::new();
        if !reader.list(|reader| ContentBlock::read(reader).map(|block| blocks.push(block)))? {
            return Err(reader.misfit(EXPECTED));
        }
        Ok(Self::Blocks(blocks))
    }

    fn take(value: Value, mode: Mode) -> serde_json::Result<Self> {
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Array(_) => Vec::take(value, mode).map(Self::Blocks),
            other => Err(wire::misfit(other, EXPECTED)),
        }
    }
}
