//! Blocks of which messages of the model and of the user consist.

mod block;
mod server_tool;
mod source;
mod text;
mod tool;

pub use block::{Content, ContentBlock};
pub use server_tool::{
    AdvisorToolResultBlock, BashCodeExecutionToolResultBlock, CodeExecutionToolResultBlock,
    ContainerUploadBlock, McpToolResultBlock, McpToolUseBlock, ServerToolUseBlock,
    TextEditorCodeExecutionToolResultBlock, ToolReferenceBlock, ToolSearchToolResultBlock,
    WebFetchToolResultBlock, WebSearchToolResultBlock,
};
pub use source::{
    Base64Source, ContentSource, DocumentBlock, FileSource, ImageBlock, MediaSource,
    SearchResultBlock, TextSource, UrlSource,
};
pub use text::{
    CharLocation, Citation, CompactionBlock, ContentBlockLocation, PageLocation,
    RedactedThinkingBlock, SearchResultLocation, TextBlock, ThinkingBlock, WebSearchResultLocation,
};
pub use tool::{ToolResultBlock, ToolUseBlock};
