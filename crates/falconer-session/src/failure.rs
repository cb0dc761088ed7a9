//! Why a run failed, in words a program can match.

use falconer_event::Failure;

/// The classes of failure that this crate gives a run, beside those of
/// [`crate::LimitKind::class`] and the engine's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunFailure {
    /// The conversation to resume does not exist any more.
    SessionNotFound,
    /// The engine answered for another session than the one asked for.
    SessionMismatch,
    /// Another run holds the session the engine named.
    SessionBusy,
    /// The lock of the session could not be used.
    LockFailed,
    /// The engine could not be started.
    EngineNotStarted,
    /// The engine ended before its work did.
    EngineEnded,
}

impl RunFailure {
    /// The class, as events carry it.
    pub fn class(self) -> &'static str {
        match self {
            Self::SessionNotFound => "session_not_found",
            Self::SessionMismatch => "session_mismatch",
            Self::SessionBusy => "session_busy",
            Self::LockFailed => "lock_failed",
            Self::EngineNotStarted => "engine_not_started",
            Self::EngineEnded => "engine_ended",
        }
    }

    /// The kind of a failure, if it is one of these.
    pub fn of(failure: &Failure) -> Option<Self> {
        let all = [
            Self::SessionNotFound,
            Self::SessionMismatch,
            Self::SessionBusy,
            Self::LockFailed,
            Self::EngineNotStarted,
            Self::EngineEnded,
        ];
        all.into_iter().find(|kind| kind.class() == failure.class)
    }

    /// Returns what a person can do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::SessionNotFound => {
                "list sessions with `falconer sessions list`, or start a new one"
            }
            Self::SessionMismatch => "start a new session; report this if it happens again",
            Self::SessionBusy => {
                "wait for the other run to end, or continue with a copy (`--fork`)"
            }
            Self::LockFailed => "make the state directory writable",
            Self::EngineNotStarted => "check the setup with `falconer doctor`",
            Self::EngineEnded => {
                "resume the session; the last lines of stderr may say why it ended"
            }
        }
    }

    /// Returns the failure with these words.
    pub fn with(self, text: impl Into<String>) -> Failure {
        Failure::new(self.class(), text).hint(self.advice())
    }
}
