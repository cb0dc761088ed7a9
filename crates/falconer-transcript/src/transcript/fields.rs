//! The fields of entries, in the CLI's names and order.

use falconer_protocol::{MessageUuid, Object, SessionId};
use serde_json::{Map, Value, json};

use super::entry::{Chained, Loose};
use super::stamp::now;

impl Chained {
    /// The fields up to those that are the same for all entries of a run.
    pub(super) fn into_fields(
        self,
        parent: Option<&MessageUuid>,
        logical_parent: Option<&MessageUuid>,
    ) -> Object {
        let mut fields = Map::new();
        fields.insert("parentUuid".to_owned(), json!(parent));
        if let Some(logical_parent) = logical_parent {
            fields.insert("logicalParentUuid".to_owned(), json!(logical_parent));
        }
        fields.insert("isSidechain".to_owned(), json!(false));
        fields.extend(self.head);
        fields.insert("uuid".to_owned(), json!(self.uuid));
        fields.insert("timestamp".to_owned(), json!(now()));
        fields.extend(self.tail);
        fields
    }
}

impl Loose {
    pub(super) fn into_fields(self, session: &SessionId, leaf: Option<&MessageUuid>) -> Object {
        let value = match self {
            Self::Enqueue(content) => json!({
                "type": "queue-operation", "operation": "enqueue", "timestamp": now(),
                "sessionId": session, "content": content,
            }),
            Self::Dequeue => json!({
                "type": "queue-operation", "operation": "dequeue", "timestamp": now(),
                "sessionId": session,
            }),
            Self::Unqueue { content, reason } => json!({
                "type": "queue-operation", "operation": "remove", "timestamp": now(),
                "sessionId": session, "content": content, "reason": reason,
            }),
            Self::LastPrompt(prompt) => json!({
                "type": "last-prompt", "lastPrompt": prompt, "leafUuid": leaf,
                "sessionId": session,
            }),
            Self::CustomTitle(title) => {
                json!({ "type": "custom-title", "customTitle": title, "sessionId": session })
            }
            Self::AgentName(name) => {
                json!({ "type": "agent-name", "agentName": name, "sessionId": session })
            }
            Self::AiTitle(title) => {
                json!({ "type": "ai-title", "aiTitle": title, "sessionId": session })
            }
            Self::Tag(tag) => json!({ "type": "tag", "tag": tag, "sessionId": session }),
            Self::ToolsUsed(tools) => {
                json!({ "type": "tools-used", "tools": tools, "sessionId": session })
            }
            Self::Cost(cost) => return cost.to_entry(session),
        };
        match value {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}
