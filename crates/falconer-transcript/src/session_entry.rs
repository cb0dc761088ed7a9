//! The entries about a session that are not part of its conversation.

use falconer_protocol::{MessageUuid, Object, SessionId};
use serde::Serialize;
use serde_json::Value;

/// One entry about a session, in the CLI's field names and field order.
#[derive(Debug, Clone, Serialize)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub(crate) enum SessionEntry<'a> {
    /// A prompt began to wait, or no longer does.
    QueueOperation {
        operation: QueueOperation,
        timestamp: String,
        session_id: &'a SessionId,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
    },
    /// The newest prompt and the end of the conversation, for lists.
    LastPrompt {
        last_prompt: String,
        leaf_uuid: Option<&'a MessageUuid>,
        session_id: &'a SessionId,
    },
    /// The title that a person gave.
    CustomTitle {
        custom_title: String,
        session_id: &'a SessionId,
        #[serde(skip_serializing_if = "Option::is_none")]
        uuid: Option<MessageUuid>,
        #[serde(skip_serializing_if = "Option::is_none")]
        timestamp: Option<String>,
    },
    /// The title that a model gave.
    AiTitle {
        ai_title: String,
        session_id: &'a SessionId,
    },
    /// The name that the session was started with.
    AgentName {
        agent_name: String,
        session_id: &'a SessionId,
    },
    /// The tag; an empty one takes it off.
    Tag {
        tag: String,
        session_id: &'a SessionId,
        #[serde(skip_serializing_if = "Option::is_none")]
        uuid: Option<MessageUuid>,
        #[serde(skip_serializing_if = "Option::is_none")]
        timestamp: Option<String>,
    },
    /// The tools that were used so far.
    ToolsUsed {
        tools: Vec<String>,
        session_id: &'a SessionId,
    },
    /// Contents that are shown to the model in another form.
    ContentReplacement {
        session_id: &'a SessionId,
        replacements: &'a [Value],
        uuid: MessageUuid,
        timestamp: &'a str,
    },
    /// A switch that only the official CLI knows; forks take it along.
    AtisLatch {
        session_id: &'a SessionId,
        atis: &'a Value,
    },
}

/// The change of a queue of prompts.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum QueueOperation {
    Enqueue,
    Dequeue,
    Remove,
}

impl SessionEntry<'_> {
    /// Gives a title or a tag an id and a time, as those in stores and forks have them.
    pub(crate) fn marked(mut self, new_uuid: MessageUuid, now: String) -> Self {
        match &mut self {
            Self::CustomTitle {
                uuid, timestamp, ..
            }
            | Self::Tag {
                uuid, timestamp, ..
            } => {
                *uuid = Some(new_uuid);
                *timestamp = Some(now);
            }
            Self::QueueOperation { .. }
            | Self::LastPrompt { .. }
            | Self::AiTitle { .. }
            | Self::AgentName { .. }
            | Self::ToolsUsed { .. }
            | Self::ContentReplacement { .. }
            | Self::AtisLatch { .. } => {}
        }
        self
    }

    /// Returns the entry as JSON on one line.
    pub(crate) fn to_line(&self) -> String {
        Value::Object(object(self)).to_string()
    }
}

/// Returns the fields of something that serializes as an object.
pub(crate) fn object(of: &impl Serialize) -> Object {
    match serde_json::to_value(of) {
        Ok(Value::Object(fields)) => fields,
        // A type that derives its fields is always an object.
        Ok(_) | Err(_) => Object::new(),
    }
}
