//! What can go wrong, one variant for each thing a caller would do differently.

use std::path::PathBuf;

use falconer_store::{Node, NodeId, Owner, SessionId};

use crate::engines::LaunchError;

/// Why a hub did not do something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store could not do it, or knows of no such thing.
    #[error(transparent)]
    Store(#[from] falconer_store::Error),
    /// The engine cannot be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The live session refused.
    #[error(transparent)]
    Session(#[from] falconer_session::Error),
    /// It needs an engine that runs, and none does.
    #[error("session {0} does not run; send it a message or resume it")]
    NotRunning(SessionId),
    /// Somebody closed the session.
    #[error("session {0} is closed; resume it to go on")]
    Closed(SessionId),
    /// A copy of the session begins with its conversation, and has not begun.
    #[error(
        "session {copy} is a copy of {session} that has not begun; send it a message or delete it \
         first"
    )]
    Copied {
        /// The session.
        session: SessionId,
        /// Its copy.
        copy: SessionId,
    },
    /// Another process runs the session.
    #[error("session {session} is run by another process: {}", whereabouts(.at.as_deref()))]
    Elsewhere {
        /// The session.
        session: SessionId,
        /// Who runs it.
        owner: NodeId,
        /// What that process said of itself, if it did.
        at: Option<Box<Node>>,
    },
    /// A rule that cannot be used.
    #[error("{0}")]
    BadRule(String),
    /// The answer does not fit what was asked.
    #[error("{0}")]
    WrongAnswer(String),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// Running without asking is not allowed here.
    #[error("{0}")]
    BypassRefused(&'static str),
    /// The directory to work in cannot be used.
    #[error("cannot work in {path}: {why}", path = .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A lock file could not be used.
    #[error(transparent)]
    Lock(#[from] falconer_session::LockError),
    /// The hub shuts down.
    #[error("the server shuts down; try again when it is back")]
    ShuttingDown,
}

/// Describes a process by what it said of itself.
pub fn whereabouts(at: Option<&Node>) -> String {
    let Some(node) = at else {
        return "one that has said nothing of itself".to_owned();
    };
    let mut text = format!("`{}`", node.program);
    if let Some(url) = &node.url {
        text.push_str(&format!(" at {url}"));
    }
    match (&node.process, &node.machine) {
        (Some(process), Some(machine)) => {
            text.push_str(&format!(" (process {} on {machine})", process.pid));
        }
        (Some(process), None) => text.push_str(&format!(" (process {})", process.pid)),
        (None, Some(machine)) => text.push_str(&format!(" (on {machine})")),
        (None, None) => {}
    }
    text
}

impl Error {
    pub(crate) fn elsewhere(session: &SessionId, owner: Owner) -> Self {
        Self::Elsewhere {
            session: session.clone(),
            owner: owner.node,
            at: owner.about.map(Box::new),
        }
    }

    /// Whether the same may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Store(error) => error.is_retryable(),
            Self::Session(error) => error.is_retryable(),
            Self::ShuttingDown | Self::Elsewhere { .. } => true,
            Self::Launch(_)
            | Self::NotRunning(_)
            | Self::Closed(_)
            | Self::Copied { .. }
            | Self::BadRule(_)
            | Self::WrongAnswer(_)
            | Self::Invalid(_)
            | Self::BypassRefused(_)
            | Self::Directory { .. }
            | Self::Lock(_) => false,
        }
    }
}
