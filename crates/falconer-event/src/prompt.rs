//! Messages of the user on their way to the agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A message to the agent, from being accepted to being given to the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Prompt {
    /// The text; pictures and documents are only named, see `attachments`.
    pub text: String,
    /// Treatment while the agent is at work.
    pub delivery: Delivery,
    /// Progress.
    pub state: PromptState,
    /// Files that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Sender, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Reason the agent does not get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Prompt {
    /// A message that was accepted.
    pub fn queued(text: impl Into<String>, delivery: Delivery) -> Self {
        Self {
            text: text.into(),
            delivery,
            state: PromptState::Queued,
            attachments: Vec::new(),
            by: None,
            reason: None,
        }
    }
}

/// The treatment of a message while the agent is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delivery {
    /// It waits until the turns before it are over.
    #[default]
    Queue,
    /// The agent reads it along the way.
    Steer,
    /// The turn under way is ended for it.
    Interrupt,
}

impl Delivery {
    /// Returns the word for it, as JSON and databases have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Steer => "steer",
            Self::Interrupt => "interrupt",
        }
    }
}

impl std::str::FromStr for Delivery {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let all = [Self::Queue, Self::Steer, Self::Interrupt];
        all.into_iter()
            .find(|delivery| delivery.as_str() == word)
            .ok_or_else(|| format!("unknown delivery {word:?}: use queue, steer or interrupt"))
    }
}

impl std::fmt::Display for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The progress of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PromptState {
    /// Accepted, not given to the engine yet.
    Queued,
    /// The engine was given it.
    Sent,
    /// It was taken back, or could not be sent; `reason` says why.
    Cancelled,
}

/// Something that came with a message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Attachment {
    /// Name that the user gave it.
    pub name: String,
    /// Media type.
    pub media_type: String,
    /// Size in bytes.
    pub bytes: u64,
}

impl Attachment {
    /// Names something that comes with a message.
    pub fn new(name: impl Into<String>, media_type: impl Into<String>, bytes: u64) -> Self {
        Self {
            name: name.into(),
            media_type: media_type.into(),
            bytes,
        }
    }
}
