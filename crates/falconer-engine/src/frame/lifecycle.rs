//! What becomes of prompts, conversations and running tools.

use falconer_protocol::message::{
    CommandLifecycleMessage, CommandState, ConversationResetMessage, ToolProgressMessage,
};
use falconer_protocol::{MessageUuid, SessionId, ToolUseId};

/// Says where a prompt with a uuid is on its way.
pub(crate) fn command(uuid: &MessageUuid, state: CommandState) -> CommandLifecycleMessage {
    CommandLifecycleMessage {
        command_uuid: uuid.clone(),
        state,
        ..CommandLifecycleMessage::default()
    }
}

/// Says that the conversation was cleared.
pub(crate) fn conversation_reset(
    new: &MessageUuid,
    prompt: &MessageUuid,
) -> ConversationResetMessage {
    ConversationResetMessage {
        new_conversation_id: SessionId::new(new.as_str()),
        trigger: Some("clear".to_owned()),
        user_message_uuid: Some(prompt.clone()),
        timestamp: Some(super::user::now()),
        ..ConversationResetMessage::default()
    }
}

/// Says that a tool is still running; sent every half minute.
pub(crate) fn tool_progress(
    id: &ToolUseId,
    tool: &str,
    seconds: u64,
    beat: u64,
) -> ToolProgressMessage {
    ToolProgressMessage {
        tool_use_id: ToolUseId::new(format!("{id}-heartbeat-{beat}")),
        tool_name: tool.to_owned(),
        parent_tool_use_id: Some(id.clone()),
        elapsed_time_seconds: seconds.into(),
        heartbeat: Some(true),
        ..ToolProgressMessage::default()
    }
}
