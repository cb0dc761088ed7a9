//! Tool results and text that the engine puts into the conversation.

use serde_json::Value;

use super::MessageOrigin;
use crate::content::{Content, ContentBlock, ToolResultBlock};
use crate::id::{AgentId, MessageUuid, SessionId, ToolUseId};
use crate::wire::wire_struct;

wire_struct! {
    /// A tool result, injected text, or the echo of a prompt.
    pub struct UserMessage ["type" = "user"] {
        pub message: UserBody,
        /// The tool call whose sub-agent got this.
        pub parent_tool_use_id ? ToolUseId,
        pub session_id ? SessionId,
        pub uuid ? MessageUuid,
        pub timestamp ? String,
        /// What the tool returned, in a shape of its own: an object, a list or an error text.
        pub tool_use_result ? Value,
        /// Tells a denied call from a failed one.
        pub tool_result_meta ? Vec<ToolResultMeta>,
        /// The engine wrote it, not a person.
        pub is_synthetic ? bool => "isSynthetic",
        /// It repeats a prompt of the host.
        pub is_replay ? bool => "isReplay",
        pub priority ? String,
        pub origin ? MessageOrigin,
        pub should_query ? bool => "shouldQuery",
        pub client_composed ? bool,
        pub pasted_content ? Vec<Value>,
        pub inline_pastes ? Vec<String>,
        pub file_attachments ? Vec<Value>,
        pub agent_id ? AgentId,
        pub subagent_type ? String,
        pub task_description ? String,
        pub refused_message_id ? String,
    }
}

impl UserMessage {
    /// The tool results.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResultBlock> {
        let blocks = self.message.content.blocks().iter();
        blocks.filter_map(ContentBlock::as_tool_result)
    }
}

wire_struct! {
    /// The message of a user towards the API.
    pub struct UserBody {
        pub role: String,
        pub content: Content,
    }
}

impl UserBody {
    /// A message of the role `user`.
    pub fn new(content: impl Into<Content>) -> Self {
        Self {
            role: "user".to_owned(),
            content: content.into(),
            ..Self::default()
        }
    }
}

wire_struct! {
    /// How the call behind a tool result was decided.
    pub struct ToolResultMeta {
        pub id ? ToolUseId,
        /// Why the tool did not run: `permission-rule`, `user-rejected` and others.
        pub non_execution_kind ? String,
        pub permission_decision ? PermissionDecision,
    }
}

wire_struct! {
    /// Who decided about a tool call, and how.
    pub struct PermissionDecision {
        pub decision ? String,
        pub source ? String,
        pub reason_type ? String,
    }
}
