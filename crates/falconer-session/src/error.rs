//! What can go wrong when a session is started or told something.

use crate::engine::EngineError;
use crate::lock::LockError;

/// Why a session did not start, or did not do what it was told.
///
/// What goes wrong in a run that has started is in its `run.completed`, with a class.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The session could not be locked; nothing was started.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The transcript of the run could not be made; nothing was started.
    #[error("failed to make the transcript {}: {source}", path.display())]
    Transcript {
        /// The file.
        path: std::path::PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The run is over.
    #[error("the run of this session is over")]
    Over,
    /// A limit was reached and the run winds down.
    #[error("the run winds down: {0}")]
    WindingDown(String),
    /// The engine is starting, and more than enough waits for it.
    #[error("the engine is still starting and {0} commands wait for it already")]
    Starting(usize),
    /// The message with this id was taken back; give the new one an id of its own.
    #[error("message {0} was cancelled before; send it under another id")]
    MessageCancelled(String),
    /// Too many messages wait already.
    #[error("{0} messages wait already; wait for a turn to end or cancel one")]
    QueueFull(usize),
    /// The answer does not count.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The engine refused, failed or did not answer.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Why an answer does not count. Nothing was allowed by it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// Nobody asks under this id, or no longer.
    #[error("request {0} is not open: it was answered, withdrawn or never made")]
    NotOpen(String),
    /// The answer is about another input than the one that is asked about.
    #[error("the answer to request {0} is about another input than the one asked about")]
    Changed(String),
    /// This kind of answer does not fit this kind of request.
    #[error("request {0} cannot be answered like this")]
    WrongKind(String),
    /// The input that came with the answer must not run; the request stays open.
    #[error("the edited input for request {id} is refused: {reason}")]
    Refused {
        /// The request.
        id: String,
        /// Why.
        reason: String,
    },
    /// The person saw only a part of the request.
    #[error("request {0} was shown in part, so it can only be denied")]
    NotShown(String),
    /// The plan is not in the request, so nobody can have seen it.
    #[error("request {0} shows no plan, so it can only be denied")]
    NoPlan(String),
}

impl Error {
    /// Whether the same call may well succeed later, with nothing changed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Lock(LockError::Held { .. }) | Self::QueueFull(_) | Self::Starting(_) => true,
            Self::Engine(error) => error.is_retryable(),
            Self::Lock(LockError::Io { .. })
            | Self::Transcript { .. }
            | Self::Over
            | Self::WindingDown(_)
            | Self::MessageCancelled(_)
            | Self::Answer(_) => false,
        }
    }
}
