//! Copying what the engine writes to disk into a store, beside the conversation.
//!
//! One task owns the store. [`MirrorHandle::push`] only puts a frame into a bounded queue,
//! so a slow or broken store never holds up the session.

mod batch;
mod error;
mod frame;
mod task;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::contract::SessionStore;
use error::Losses;
pub use error::MirrorError;
use task::{Command, Queued};

/// The time at which frames go to the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FlushMode {
    /// Together, before each result and whenever a batch is full.
    #[default]
    Batched,
    /// Each frame at once, as a batch of its own.
    Eager,
}

/// Settings of a [`Mirror`].
///
/// ```
/// use falconer::mirror::{FlushMode, MirrorOptions};
///
/// let options = MirrorOptions::new("/home/a/.claude/projects").flush(FlushMode::Eager);
/// # let _ = options;
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct MirrorOptions {
    projects_dir: PathBuf,
    flush: FlushMode,
    append_timeout: Duration,
    backoff: Duration,
    batch_entries: usize,
    batch_bytes: usize,
    queue_bytes: u32,
    queue_frames: usize,
}

impl MirrorOptions {
    /// Number of attempts at a batch before it is given up.
    pub const ATTEMPTS: u32 = 3;

    /// The defaults, for an engine whose transcripts are below `projects_dir`.
    pub fn new(projects_dir: impl Into<PathBuf>) -> Self {
        Self {
            projects_dir: projects_dir.into(),
            flush: FlushMode::Batched,
            append_timeout: Duration::from_secs(60),
            backoff: Duration::from_millis(200),
            batch_entries: 500,
            batch_bytes: 1 << 20,
            queue_bytes: 64 << 20,
            queue_frames: 16_384,
        }
    }

    /// Sets the time at which frames go to the store.
    pub fn flush(mut self, flush: FlushMode) -> Self {
        self.flush = flush;
        self
    }

    /// Sets the limit on one `append`; 60 s if not set. It is not tried again after that, because
    /// it may still succeed.
    pub fn append_timeout(mut self, timeout: Duration) -> Self {
        self.append_timeout = timeout;
        self
    }

    /// The pause before the second attempt; four times that before the third.
    pub fn backoff(mut self, backoff: Duration) -> Self {
        self.backoff = backoff;
        self
    }

    /// Sets the number of bytes of frames that may wait for the store; 64 MiB if not set. Frames
    /// beyond that are lost to the store and reported by the next flush.
    pub fn queue_bytes(mut self, bytes: u32) -> Self {
        self.queue_bytes = bytes.max(1);
        self
    }
}

/// Starts the task that copies transcripts into a store.
#[derive(Debug)]
pub struct Mirror;

impl Mirror {
    /// Starts mirroring into `store`; must be called inside a Tokio runtime.
    pub fn start(store: Arc<dyn SessionStore>, options: MirrorOptions) -> MirrorHandle {
        let (commands, inbox) = mpsc::channel(options.queue_frames);
        let losses = Arc::new(Losses::default());
        let budget = Arc::new(Semaphore::new(options.queue_bytes as usize));
        let projects_dir = options.projects_dir.clone();
        let queue_bytes = options.queue_bytes;
        let task = tokio::spawn(task::run(store, options, inbox, Arc::clone(&losses)));
        MirrorHandle {
            commands,
            budget,
            queue_bytes,
            losses,
            projects_dir,
            task: Some(task),
        }
    }
}

/// The running mirror of one session.
///
/// Call [`MirrorHandle::close`] to deliver what is left. Dropping the handle stops the task
/// and gives up what has not reached the store yet.
#[derive(Debug)]
pub struct MirrorHandle {
    commands: mpsc::Sender<Command>,
    budget: Arc<Semaphore>,
    queue_bytes: u32,
    losses: Arc<Losses>,
    projects_dir: PathBuf,
    task: Option<JoinHandle<()>>,
}

impl MirrorHandle {
    /// Hands over one `transcript_mirror` frame as the engine wrote it; never waits.
    ///
    /// If the queue is full, the frame is not mirrored. The next flush reports that; the
    /// transcript on disk is complete, and
    /// [`import_session_to_store`](super::import_session_to_store) fills the gap.
    pub fn push(&self, raw_frame: Bytes) {
        let size = u32::try_from(raw_frame.len()).unwrap_or(u32::MAX);
        // A frame that is larger than the whole budget may pass when it is alone.
        let size = size.clamp(1, self.queue_bytes);
        let permit = Arc::clone(&self.budget).try_acquire_many_owned(size);
        let refused = match permit {
            Ok(permit) => {
                let frame = raw_frame.clone();
                let command = Command::Frame(Queued { frame, permit });
                self.commands.try_send(command).is_err()
            }
            Err(_) => true,
        };
        if refused {
            self.losses.add(&raw_frame, &self.projects_dir);
        }
        drop(raw_frame);
    }

    /// Writes everything pushed so far to the store; returns what went wrong since the last
    /// flush.
    ///
    /// The SDK calls this before it hands out a result. It takes as long as the store does:
    /// at most the append timeout for each transcript that has something to write. Giving up
    /// waiting is safe; the writing goes on.
    pub async fn flush(&self) -> Vec<MirrorError> {
        self.ask(Command::Flush).await
    }

    /// Flushes and stops.
    pub async fn close(mut self) -> Vec<MirrorError> {
        let errors = self.ask(Command::Close).await;
        if let Some(task) = self.task.take() {
            // The task has answered, or is gone, which the answer already says.
            let _ = task.await;
        }
        errors
    }

    async fn ask(
        &self,
        command: fn(oneshot::Sender<Vec<MirrorError>>) -> Command,
    ) -> Vec<MirrorError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.commands.send(command(reply)).await;
        match sent {
            Ok(()) => answer.await.unwrap_or_else(|_| vec![MirrorError::Stopped]),
            Err(_) => vec![MirrorError::Stopped],
        }
    }
}

impl Drop for MirrorHandle {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}
