//! Work on threads that may block, and how it learns that nobody waits for it any more.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::Outcome;
use super::failure::Failure;

/// When work has to stop before its end.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt {
    cancelled: CancellationToken,
    deadline: Instant,
}

/// Why work stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancelled,
    TimedOut,
}

impl Interrupt {
    pub(crate) fn new(cancelled: CancellationToken, limit: Duration) -> Self {
        let now = Instant::now();
        Self {
            cancelled,
            deadline: now.checked_add(limit).unwrap_or(now),
        }
    }

    /// Whether the time is over; cheap enough to be asked for every file.
    pub(crate) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    pub(crate) fn stop(&self) -> Option<Stop> {
        if self.cancelled.is_cancelled() {
            Some(Stop::Cancelled)
        } else if self.is_late() {
            Some(Stop::TimedOut)
        } else {
            None
        }
    }
}

/// A reader that fails between two reads once work has to stop.
#[derive(Debug)]
pub(crate) struct Interruptible<'a, R> {
    pub(crate) reader: R,
    pub(crate) interrupt: &'a Interrupt,
}

impl<R: Read> Read for Interruptible<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.interrupt.stop() {
            Some(Stop::Cancelled) => Err(io::Error::other("the call was cancelled")),
            Some(Stop::TimedOut) => Err(io::ErrorKind::TimedOut.into()),
            None => self.reader.read(buffer),
        }
    }
}

/// Reads on a thread for blocking work. A cancelled call is answered at once, even when the file
/// system hangs; the thread notices at its next step.
pub(crate) async fn reading(
    cancelled: CancellationToken,
    work: impl FnOnce() -> Outcome + Send + 'static,
) -> Outcome {
    let work = tokio::task::spawn_blocking(work);
    tokio::select! {
        outcome = work => outcome.unwrap_or_else(|error| broken(&error).into()),
        () = cancelled.cancelled() => Outcome::error("The call was cancelled"),
    }
}

/// Changes something on a thread for blocking work, and waits until that is over.
pub(crate) async fn changing<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(broken(&error)),
    }
}

fn broken(error: &tokio::task::JoinError) -> Failure {
    tracing::error!(%error, "bug: a tool did not end well");
    Failure::failed("The tool failed inside; this is a bug of the engine")
}
