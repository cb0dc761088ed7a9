//! Bringing transcripts to the disk without making anybody wait for it.

use std::io;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::append::Writer;

/// How many transcripts of a process are brought to the disk at once. The others are when
/// their next turn or they themselves end: blocking threads are for tools, too.
static FLUSHES: Semaphore = Semaphore::const_new(4);

/// How long the end of a session waits for the disk.
const LAST_FLUSH: Duration = Duration::from_secs(10);

/// The flushes of one transcript; at most one runs.
#[derive(Debug, Default)]
pub(super) struct Flushes {
    /// Whether something was written since the last one began.
    dirty: bool,
    running: Option<JoinHandle<io::Result<()>>>,
}

impl Flushes {
    pub(super) fn note_write(&mut self) {
        self.dirty = true;
    }

    /// Starts one in the background, unless there is nothing new or one is still running.
    ///
    /// The outcome is that of the one before.
    pub(super) fn start(&mut self, writer: &Writer) -> io::Result<()> {
        let before = match self.running.as_mut().map(FutureExt::now_or_never) {
            None => Ok(()),
            Some(None) => return Ok(()),
            Some(Some(outcome)) => outcome.unwrap_or(Ok(())),
        };
        self.running = None;
        // Without a runtime there is nobody to do it; the system does it soon enough.
        let runtime = tokio::runtime::Handle::try_current();
        if let (true, Ok(runtime), Ok(permit)) = (self.dirty, runtime, FLUSHES.try_acquire()) {
            let file = writer.file();
            self.dirty = false;
            self.running = Some(runtime.spawn_blocking(move || {
                let outcome = file.sync_data();
                drop(permit);
                outcome
            }));
        }
        before
    }

    /// Waits for the running one, then does one more if there is something new.
    pub(super) fn last(&mut self, writer: &Writer) -> Option<BoxFuture<'static, io::Result<()>>> {
        let running = self.running.take();
        let file = self.dirty.then(|| writer.file());
        if running.is_none() && file.is_none() {
            return None;
        }
        self.dirty = false;
        let flush = async move {
            if let Some(running) = running {
                running.await.unwrap_or(Ok(()))?;
            }
            match file {
                None => Ok(()),
                Some(file) => {
                    let last = tokio::task::spawn_blocking(move || file.sync_data());
                    last.await.unwrap_or(Ok(()))
                }
            }
        };
        let limited = async move {
            let outcome = tokio::time::timeout(LAST_FLUSH, flush).await;
            outcome.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        };
        Some(limited.boxed())
    }
}
