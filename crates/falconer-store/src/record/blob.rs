//! Attachments and long outputs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{BlobHash, BlobId, SessionId};
use crate::time::Timestamp;

/// The facts about a blob; its bytes are read by their hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BlobRecord {
    /// Its name here.
    pub id: BlobId,
    /// The hash of its bytes; equal bytes are kept once.
    pub hash: BlobHash,
    /// Name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Claimed media type. Code that shows it must not believe it.
    pub media_type: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of storing.
    pub created_at: Timestamp,
}

/// A blob to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewBlob {
    /// Name for people.
    pub name: Option<String>,
    /// Claimed media type.
    pub media_type: String,
    /// The session that uses it and with which it goes. A blob nobody uses is swept some day; a
    /// message with attachments uses them.
    pub session: Option<SessionId>,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl NewBlob {
    /// Bytes nobody uses yet.
    pub fn new(media_type: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self {
            name: None,
            media_type: media_type.into(),
            session: None,
            bytes,
        }
    }

    /// Sets the name for people.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The session that uses it.
    #[must_use]
    pub fn session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }
}
