//! Frames gathered until they are worth a call to the store.

use tokio::sync::OwnedSemaphorePermit;

use super::frame::Frame;
use crate::mirror::{SessionKey, SessionStoreEntry};

/// The entries of one transcript that go to the store together.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) key: SessionKey,
    pub(crate) entries: Vec<SessionStoreEntry>,
}

/// Frames that wait for the next write.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// In the order in which transcripts were first seen.
    batches: Vec<Batch>,
    /// Hold the queue's budget until the entries are written.
    permits: Vec<OwnedSemaphorePermit>,
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
}

impl Pending {
    pub(crate) fn add(&mut self, frame: Frame, bytes: usize, permit: OwnedSemaphorePermit) {
        if frame.entries.is_empty() {
            return;
        }
        self.entries += frame.entries.len();
        self.bytes += bytes;
        self.permits.push(permit);
        match self.batches.iter_mut().find(|batch| batch.key == frame.key) {
            Some(batch) => batch.entries.extend(frame.entries),
            None => self.batches.push(Batch {
                key: frame.key,
                entries: frame.entries,
            }),
        }
    }

    /// Takes everything; the permits go back when they are dropped.
    pub(crate) fn take(&mut self) -> (Vec<Batch>, Vec<OwnedSemaphorePermit>) {
        let taken = std::mem::take(self);
        (taken.batches, taken.permits)
    }
}
