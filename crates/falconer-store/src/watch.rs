//! Hints that something changed.

use tokio::sync::broadcast;

use crate::id::SessionId;

/// A possible change. It is a hint: read the store to know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A session: its record, events, messages or requests; or it is gone.
    Session(SessionId),
    /// The rules.
    Rules,
    /// The watcher was too slow, or the store cannot say more: look at everything you care about.
    Everything,
}

/// Yields a hint after each change that was made after the watcher was, here or by another
/// process with the same store. Never before the change can be read.
#[derive(Debug)]
pub struct Watcher {
    hints: broadcast::Receiver<Change>,
}

impl Watcher {
    pub(crate) fn new(hints: broadcast::Receiver<Change>) -> Self {
        Self { hints }
    }

    /// Waits for the next hint; `None` when the store is closed. Nothing is lost if it is dropped
    /// while it waits. Hints may come twice.
    pub async fn changed(&mut self) -> Option<Change> {
        match self.hints.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(_)) => {
                // What is still in the ring is part of "everything".
                self.hints = self.hints.resubscribe();
                Some(Change::Everything)
            }
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
