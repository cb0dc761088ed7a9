//! Messages of users.

use falconer_event::Delivery;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{BlobId, MessageId, SessionId};
use crate::record::Guard;
use crate::time::Timestamp;

super::word_enum! {
    /// The progress of a message.
    InputState {
        /// It waits.
        Queued = "queued",
        /// The engine was given it.
        Sent = "sent",
        /// Its turn is over.
        Done = "done",
        /// It was taken back before the engine saw it.
        Cancelled = "cancelled",
        /// The server died while its turn was under way; it is not sent again by itself.
        Interrupted = "interrupted",
    }
}

impl InputState {
    /// Returns `true` if a message in this state may come into that one.
    pub fn may_become(self, next: Self) -> bool {
        use InputState::{Cancelled, Done, Interrupted, Queued, Sent};
        matches!(
            (self, next),
            (Queued, Sent | Cancelled | Interrupted) | (Sent, Done | Cancelled | Interrupted)
        )
    }
}

/// A file that goes with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Attachment {
    /// The stored file.
    pub id: BlobId,
    /// Name for people.
    pub name: String,
    /// Claimed media type.
    pub media_type: String,
    /// Size in bytes.
    pub bytes: u64,
}

impl Attachment {
    /// A stored file.
    pub fn new(
        id: BlobId,
        name: impl Into<String>,
        media_type: impl Into<String>,
        bytes: u64,
    ) -> Self {
        Self {
            id,
            name: name.into(),
            media_type: media_type.into(),
            bytes,
        }
    }
}

/// A message of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct InputRecord {
    /// Its name; events name it.
    pub id: MessageId,
    /// Session it was sent to.
    pub session: SessionId,
    /// Id chosen by the sender; sent twice it is one message.
    pub client_msg_id: String,
    /// Text.
    pub text: String,
    /// Files that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Treatment while the agent is at work.
    pub delivery: Delivery,
    /// Progress.
    pub state: InputState,
    /// Sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Time of storing.
    pub created_at: Timestamp,
}

/// A message to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewInput {
    /// Its name.
    pub id: MessageId,
    /// Session to send it to.
    pub session: SessionId,
    /// Id chosen by the sender.
    pub client_msg_id: String,
    /// Text.
    pub text: String,
    /// Files that go with it.
    pub attachments: Vec<Attachment>,
    /// Treatment while the agent is at work.
    pub delivery: Delivery,
    /// Sender.
    pub by: Option<String>,
    /// Condition for storing it.
    pub guard: Guard,
}

impl NewInput {
    /// A message with a new name that waits for its turn.
    pub fn new(
        session: SessionId,
        client_msg_id: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            id: MessageId::generate(),
            session,
            client_msg_id: client_msg_id.into(),
            text: text.into(),
            attachments: Vec::new(),
            delivery: Delivery::Queue,
            by: None,
            guard: Guard::Anyone,
        }
    }
}
