//! Errors, one variant for each thing a caller would do differently.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::id::{Fence, NodeId, SessionId};
use crate::time::Timestamp;

/// The result of a store's method.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason a store did not do what it was asked to. Nothing was changed, unless it says
/// otherwise.
///
/// Cheap to clone: one failed commit fails everybody who was in it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such thing, or not any more.
    #[error("there is no {what} {id}")]
    NotFound {
        /// Kind of thing that was looked for.
        what: Entity,
        /// By which name.
        id: String,
    },

    /// The name is taken by something else.
    #[error("the {what} {id} exists already with other content")]
    Conflict {
        /// Kind of thing that was to be made.
        what: Entity,
        /// By which name.
        id: String,
    },

    /// Somebody else runs the session.
    #[error("session {session} is held by {owner} until {until}")]
    Held {
        /// The session.
        session: SessionId,
        /// Process that runs it.
        owner: NodeId,
        /// Time at which the lease runs out unless it is renewed.
        until: Timestamp,
    },

    /// The caller ran the session once; it has been claimed by somebody else, or let go, since.
    /// It must not go on: stop the engine, write nothing.
    #[error("the lease of session {session} with fence {fence} is over; it is at {current} now")]
    StaleFence {
        /// The session.
        session: SessionId,
        /// Fence that the caller holds.
        fence: Fence,
        /// The fence of the session now.
        current: Fence,
    },

    /// Events with these numbers do not come next.
    #[error("session {session} expects event {expected} next, not {given}")]
    WrongSequence {
        /// The session.
        session: SessionId,
        /// The number that comes next.
        expected: u64,
        /// The number that was given.
        given: u64,
    },

    /// Larger than the store keeps: shorten it, or put the long part into a blob.
    #[error("the {what} has {size} bytes, more than the {limit} that are kept")]
    TooLarge {
        /// Kind of thing that was too large.
        what: Entity,
        /// Its size.
        size: usize,
        /// Largest size.
        limit: usize,
    },

    /// The arguments contradict each other or themselves.
    #[error("{0}")]
    Invalid(String),

    /// No room on the disk. What was written before is whole; try again when there is room.
    #[error("no room left on the disk for {path}", path = .path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },

    /// The file or its directory cannot be written.
    #[error("{path} cannot be written: {detail}", path = .path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
        /// Error of the system.
        detail: String,
    },

    /// The stored data cannot be read: not a database, damaged, or a row no version ever wrote.
    #[error("{path} is damaged: {detail}", path = .path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// Findings.
        detail: String,
    },

    /// The database was made by a newer version; it was left as it is.
    #[error(
        "{path} was made by a newer version (schema {found}, this one knows {known}); use that version or another file",
        path = .path.display()
    )]
    TooNew {
        /// The database.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
        /// The newest this version knows.
        known: i64,
    },

    /// Another process kept the database, or the queue of the writer stayed full, for too long.
    #[error("the store was busy for {} ms", waited.as_millis())]
    Busy {
        /// Time that was waited.
        waited: Duration,
    },

    /// The store was closed.
    #[error("the store is closed")]
    Closed,

    /// The disk or the system failed. If it happened while writing, what was asked for may or may
    /// not be stored: read before trying again.
    #[error("failed to {during}")]
    Io {
        /// Attempted operation and its object.
        during: String,
        /// Error of the layer below.
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Returns `true` if the same call may succeed later without anybody changing its arguments.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Full { .. } | Self::Busy { .. } | Self::Held { .. }
        )
    }

    pub(crate) fn not_found(what: Entity, id: impl fmt::Display) -> Self {
        Self::NotFound {
            what,
            id: id.to_string(),
        }
    }

    pub(crate) fn conflict(what: Entity, id: impl fmt::Display) -> Self {
        Self::Conflict {
            what,
            id: id.to_string(),
        }
    }
}

/// The kind of thing that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Entity {
    /// A session.
    Session,
    /// An event.
    Event,
    /// A message of a user.
    Input,
    /// A permission or question.
    Request,
    /// An "always" rule.
    Rule,
    /// A token.
    Token,
    /// An audit record.
    Audit,
    /// A file or a long output.
    Blob,
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => "session",
            Self::Event => "event",
            Self::Input => "message",
            Self::Request => "request",
            Self::Rule => "rule",
            Self::Token => "token",
            Self::Audit => "audit record",
            Self::Blob => "blob",
        })
    }
}
