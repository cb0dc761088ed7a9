//! The fields of entries, in the CLI's names and order.

use falconer_protocol::{MessageUuid, Object, SessionId};
use serde::Serialize;

use super::entry::{Chained, Loose};
use crate::session_entry::{QueueOperation, SessionEntry, object};
use crate::time::now;

/// The fields that every entry of the conversation begins with.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Parents<'a> {
    parent_uuid: Option<&'a MessageUuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logical_parent_uuid: Option<&'a MessageUuid>,
    is_sidechain: bool,
}

/// The fields between those that differ by kind.
#[derive(Serialize)]
struct Identity<'a> {
    uuid: &'a MessageUuid,
    timestamp: String,
}

impl Chained {
    /// The fields up to those that are the same for all entries of a run.
    pub(super) fn into_fields(
        self,
        parent_uuid: Option<&MessageUuid>,
        logical_parent_uuid: Option<&MessageUuid>,
    ) -> Object {
        let mut fields = object(&Parents {
            parent_uuid,
            logical_parent_uuid,
            is_sidechain: false,
        });
        fields.extend(self.head);
        fields.extend(object(&Identity {
            uuid: &self.uuid,
            timestamp: now(),
        }));
        fields.extend(self.tail);
        fields
    }
}

impl Loose {
    pub(super) fn into_fields(
        self,
        session_id: &SessionId,
        leaf_uuid: Option<&MessageUuid>,
    ) -> Object {
        let queue = |operation, content, reason| SessionEntry::QueueOperation {
            operation,
            timestamp: now(),
            session_id,
            content,
            reason,
        };
        object(&match self {
            Self::Enqueue(content) => queue(QueueOperation::Enqueue, Some(content), None),
            Self::Dequeue => queue(QueueOperation::Dequeue, None, None),
            Self::Unqueue { content, reason } => {
                queue(QueueOperation::Remove, Some(content), Some(reason))
            }
            Self::LastPrompt(last_prompt) => SessionEntry::LastPrompt {
                last_prompt,
                leaf_uuid,
                session_id,
            },
            Self::CustomTitle(custom_title) => SessionEntry::CustomTitle {
                custom_title,
                session_id,
                uuid: None,
                timestamp: None,
            },
            Self::AgentName(agent_name) => SessionEntry::AgentName {
                agent_name,
                session_id,
            },
            Self::AiTitle(ai_title) => SessionEntry::AiTitle {
                ai_title,
                session_id,
            },
            Self::Tag(tag) => SessionEntry::Tag {
                tag,
                session_id,
                uuid: None,
                timestamp: None,
            },
            Self::ToolsUsed(tools) => SessionEntry::ToolsUsed { tools, session_id },
            Self::Cost(cost) => return cost.to_entry(session_id),
        })
    }
}
