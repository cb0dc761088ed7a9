//! The error of everything that reads or changes sessions.

use std::io;
use std::path::{Path, PathBuf};

use crate::store_error::SessionStoreError;

/// Anything that can go wrong while reading or changing sessions.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The text cannot be a session or agent id, because it would not stay one file name.
    #[error("invalid {what} {id:?}: {reason}")]
    InvalidId {
        /// What it should have been: `session id`, `agent id`, `project key`.
        what: &'static str,
        /// The text.
        id: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// No transcript of that session was found.
    #[error("session {id} not found; looked in {}", places(.searched))]
    NotFound {
        /// The session.
        id: String,
        /// The directories, or the store key, that were looked at.
        searched: Vec<PathBuf>,
    },
    /// The session has no sub-agent of that id.
    #[error("session {session} has no sub-agent {agent}")]
    AgentNotFound {
        /// The session.
        session: String,
        /// The sub-agent.
        agent: String,
    },
    /// The message is not in the session.
    #[error("message {message} not found in session {session}")]
    MessageNotFound {
        /// The session.
        session: String,
        /// The message.
        message: String,
    },
    /// The session has no messages that could be copied.
    #[error("session {session} has no messages to fork")]
    NothingToFork {
        /// The session.
        session: String,
    },
    /// A title or tag has nothing left once blanks and invisible characters are removed.
    #[error("the {what} must not be empty")]
    Empty {
        /// What was empty: `title`, `tag`.
        what: &'static str,
    },
    /// Neither `CLAUDE_CONFIG_DIR` nor `HOME` says where the sessions are.
    #[error("cannot tell where sessions are kept: neither CLAUDE_CONFIG_DIR nor HOME is set")]
    NoConfigDir,
    /// Reading or writing a file failed.
    #[error("failed to {doing} {}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `append to`.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The session store refused or failed.
    #[error(transparent)]
    Store(#[from] SessionStoreError),
}

impl SessionError {
    /// Whether the session, sub-agent or message is simply not there.
    pub fn is_not_found(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. } | Self::AgentNotFound { .. } | Self::MessageNotFound { .. }
        )
    }

    /// Returns the failure of a file as the system told it.
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            Self::Io { source, .. } => source,
            other => io::Error::other(other),
        }
    }

    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io {
            doing,
            path,
            source,
        }
    }
}

/// The searched places as one readable list.
fn places(searched: &[PathBuf]) -> String {
    const SHOWN: usize = 5;
    if searched.is_empty() {
        return "no project directory, because there is none".to_owned();
    }
    let mut text = searched
        .iter()
        .take(SHOWN)
        .map(|path| path.display().to_string())
        .collect::<Vec<_>>()
        .join(", ");
    if searched.len() > SHOWN {
        text.push_str(&format!(" and {} more", searched.len() - SHOWN));
    }
    text
}
