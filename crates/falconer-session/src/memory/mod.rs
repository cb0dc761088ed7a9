//! Which session belongs to whom, so that a conversation goes on after a restart.
//!
//! A session is remembered as soon as its engine has named it, before `run.started`, by engine,
//! chat, topic, sender and working directory; the last exchange is remembered with every turn,
//! in case the engine loses the conversation.

mod file;

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use file::FileMemory;

/// The most characters of each side of an exchange that are kept.
const EXCHANGE: usize = 2000;

/// Who talks to which engine, where, and about what. What is not said is a value of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[must_use]
pub struct SessionKey {
    engine: String,
    cwd: PathBuf,
    #[serde(default)]
    chat: Option<String>,
    #[serde(default)]
    topic: Option<String>,
    #[serde(default)]
    sender: Option<String>,
}

impl SessionKey {
    /// An engine in a working directory.
    pub fn new(engine: impl Into<String>, cwd: impl AsRef<Path>) -> Self {
        Self {
            engine: engine.into(),
            cwd: cwd.as_ref().to_owned(),
            chat: None,
            topic: None,
            sender: None,
        }
    }

    /// In this chat.
    pub fn chat(mut self, chat: impl Into<String>) -> Self {
        self.chat = Some(chat.into());
        self
    }

    /// In this topic of the chat.
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.topic = Some(topic.into());
        self
    }

    /// By this person.
    pub fn sender(mut self, sender: impl Into<String>) -> Self {
        self.sender = Some(sender.into());
        self
    }
}

/// What is remembered of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Remembered {
    /// The engine's id of it.
    pub session: String,
    /// What was said last.
    #[serde(default)]
    pub last: Option<Exchange>,
}

/// A prompt and its answer, shortened, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Exchange {
    /// What the user said.
    pub prompt: String,
    /// What the agent answered.
    pub answer: String,
}

/// Where sessions are remembered. An implementation returns when what it was told would survive
/// a crash; the session waits for it, once at its start and once per turn, so it has to be quick.
pub trait SessionMemory: Send + Sync + 'static {
    /// Remembers a session, in place of the one before.
    ///
    /// # Errors
    /// When it could not be stored; what was there before is still there.
    fn remember(&self, key: &SessionKey, remembered: &Remembered) -> io::Result<()>;

    /// The session of a key, if there is one.
    ///
    /// # Errors
    /// When it could not be read.
    fn recall(&self, key: &SessionKey) -> io::Result<Option<Remembered>>;

    /// Forgets the session of a key.
    ///
    /// # Errors
    /// When it could not be removed.
    fn forget(&self, key: &SessionKey) -> io::Result<()>;
}

impl Remembered {
    /// A session of which nothing is known but its id.
    pub fn new(session: impl Into<String>) -> Self {
        Self {
            session: session.into(),
            last: None,
        }
    }
}

impl Exchange {
    /// What was said, shortened.
    pub fn new(prompt: &str, answer: &str) -> Self {
        Self {
            prompt: shortened(prompt),
            answer: shortened(answer),
        }
    }

    /// For a model that knows nothing of it.
    pub(crate) fn told(&self) -> String {
        format!(
            "The earlier conversation is lost; this is a new one. For context, the last exchange \
             of the earlier one.\n\nThe user said:\n{}\n\nThe answer was:\n{}\n\nThe user now \
             says:\n",
            quoted(&self.prompt),
            quoted(&self.answer)
        )
    }
}

fn shortened(text: &str) -> String {
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(EXCHANGE).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}

fn quoted(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}
