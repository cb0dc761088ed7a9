//! What a hub is told: sessions to make, messages to send, changes.

use std::path::PathBuf;

use falconer_store::{BlobId, Delivery, InputRecord, SessionId};
use serde_json::Value;

/// A session to make.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewSession {
    /// Its id; one is made up otherwise.
    pub id: Option<SessionId>,
    /// What people call it; the beginning of the first message otherwise.
    pub title: Option<String>,
    /// `auto`, `claude`, `native`, `script`.
    pub engine: String,
    /// The model, unless it is the engine's choice.
    pub model: Option<String>,
    /// Where it works; has to be there.
    pub cwd: PathBuf,
    /// The permission mode.
    pub mode: String,
    /// `limits` and other choices, as the owner of the engines understands them.
    pub config: Value,
}

impl NewSession {
    /// A session that asks for permission.
    pub fn new(engine: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            id: None,
            title: None,
            engine: engine.into(),
            model: None,
            cwd: cwd.into(),
            mode: "default".to_owned(),
            config: Value::Null,
        }
    }
}

/// A message to the agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewMessage {
    /// The sender's own id of the message: sent twice, it counts once.
    pub client_msg_id: String,
    /// What is said.
    pub text: String,
    /// Blobs of the store.
    pub attachments: Vec<BlobId>,
    /// What happens while the agent is at work.
    pub delivery: Delivery,
    /// Who sends it; for the record.
    pub by: String,
}

impl NewMessage {
    /// A text that waits for its turn.
    pub fn new(
        client_msg_id: impl Into<String>,
        text: impl Into<String>,
        by: impl Into<String>,
    ) -> Self {
        Self {
            client_msg_id: client_msg_id.into(),
            text: text.into(),
            attachments: Vec::new(),
            delivery: Delivery::Queue,
            by: by.into(),
        }
    }
}

/// A message that was taken.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Accepted {
    /// The message as it is kept.
    pub message: InputRecord,
    /// Whether it was there already.
    pub duplicate: bool,
}

/// What became of the wish to take a message back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenBack {
    /// The agent will not see it.
    Yes,
    /// The agent has it, or it is over.
    TooLate,
}

/// What is to be different about a session; what is `None` stays.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Change {
    /// What people call it.
    pub title: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The permission mode.
    pub mode: Option<String>,
    /// Kept at the top.
    pub pinned: Option<bool>,
    /// Put away.
    pub archived: Option<bool>,
}
