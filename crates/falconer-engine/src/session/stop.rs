//! Ending a session from outside, and how it ended.

use tokio_util::sync::CancellationToken;

/// How a session ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Exit {
    /// The exit code of a process.
    pub(crate) code: i32,
    /// What is to be said to people, line by line.
    pub(crate) stderr: Vec<String>,
}

/// Ends a session. Cheap to clone; all clones are the same lever.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    interrupted: CancellationToken,
    terminated: CancellationToken,
}

impl Stop {
    /// As SIGINT: the turn is aborted, its result is told, the session ends with code 0.
    pub(crate) fn interrupt(&self) {
        self.interrupted.cancel();
    }

    /// As SIGTERM: nothing more is told, what runs is killed, the code is 143.
    pub(crate) fn terminate(&self) {
        self.terminated.cancel();
    }

    pub(super) fn interrupted(&self) -> &CancellationToken {
        &self.interrupted
    }

    pub(super) fn terminated(&self) -> &CancellationToken {
        &self.terminated
    }
}
