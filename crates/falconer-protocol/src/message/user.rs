//! Tool results and text that the engine puts into the conversation.

use serde_json::Value;

use super::MessageOrigin;
use crate::content::{Content, ContentBlock, ToolResultBlock};
use crate::id::{AgentId, MessageUuid, SessionId, ToolUseId};
use crate::permission::DecisionReasonType;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// A tool result, injected text, or the echo of a prompt.
    pub struct UserMessage ["type" = "user"] {
        /// Text, or exactly one tool result.
        pub message: UserBody,
        /// Tool call whose sub-agent got this; `null` in the main conversation.
        pub parent_tool_use_id ? ToolUseId,
        /// Session that wrote this line.
        pub session_id ? SessionId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// ISO 8601 time by the engine's clock, for display.
        pub timestamp ? String,
        /// Output in the tool's own shape: an object such as
        /// [`BashOutput`](crate::tool::BashOutput), a list for MCP tools, an error text if the call
        /// failed.
        pub tool_use_result ? Value,
        /// Decision about the call; tells a denied call from a failed one.
        pub tool_result_meta ? Vec<ToolResultMeta>,
        /// `true` if the engine wrote the text: hook feedback, a summary, a nudge.
        pub is_synthetic ? bool => "isSynthetic",
        /// `true` if the line repeats a prompt of the host or the output of a local command.
        pub is_replay ? bool => "isReplay",
        /// Priority of the repeated prompt, as in [`Priority`](crate::Priority).
        pub priority ? String,
        /// Cause of the prompt, if it was not the host.
        pub origin ? MessageOrigin,
        /// Value of the repeated prompt: `false` if the model was not asked.
        pub should_query ? bool => "shouldQuery",
        /// Value of the repeated prompt: `true` if its text was taken literally.
        pub client_composed ? bool,
        /// Pasted content of the repeated prompt, kept beside the typed text.
        pub pasted_content ? Vec<Value>,
        /// Pasted passages that are part of the repeated prompt's text.
        pub inline_pastes ? Vec<String>,
        /// Files attached to the prompt; not in the recorded sessions.
        pub file_attachments ? Vec<Value>,
        /// Sub-agent that got this, equal to the `task_id` of its task; absent in the main
        /// conversation.
        pub agent_id ? AgentId,
        /// Type of that sub-agent, such as `general-purpose`.
        pub subagent_type ? String,
        /// Short description that the call of the sub-agent carried.
        pub task_description ? String,
        /// `message.id` of the refused answer that this text asks the model to continue.
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
        /// `user`; the CLI ends if a host sends anything else.
        pub role: String,
        /// Text, or blocks such as text, pictures and tool results.
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
    /// The decision about the call behind a tool result.
    pub struct ToolResultMeta {
        /// Tool call this is about.
        pub id ? ToolUseId,
        /// Reason the tool did not run: `permission-rule`, `user-rejected`, `cancelled` and others.
        /// Absent if it ran.
        pub non_execution_kind ? NonExecutionKind,
        /// Decision that was made; absent if none was needed.
        pub permission_decision ? PermissionDecision,
    }
}

wire_struct! {
    /// The decision about a tool call and its source.
    pub struct PermissionDecision {
        /// `accept` or `reject`.
        pub decision ? DecisionKind,
        /// Component that decided: `config`, `hook`, or a person's answer as `user_temporary`,
        /// `user_permanent`, `user_reject`.
        pub source ? DecisionSource,
        /// Kind of reason, as in [`DecisionReasonType`](crate::permission::DecisionReasonType).
        pub reason_type ? DecisionReasonType,
    }
}

open_enum! {
    /// The reason a tool did not run.
    pub enum NonExecutionKind {
        PermissionRule = "permission-rule",
        UserRejected = "user-rejected",
        Cancelled = "cancelled",
    }
}

open_enum! {
    /// A decision about a tool call.
    pub enum DecisionKind {
        Reject = "reject",
        Accept = "accept",
    }
}

open_enum! {
    /// The source of a decision about a tool call.
    pub enum DecisionSource {
        /// Rules, modes and defaults.
        Config = "config",
        Hook = "hook",
        /// A person, for this once.
        UserTemporary = "user_temporary",
        /// A person, for good.
        UserPermanent = "user_permanent",
        UserReject = "user_reject",
        UserAbort = "user_abort",
        /// The answer changed the input into one that the tool does not take.
        InvalidInput = "permission_updated_input_invalid",
    }
}
