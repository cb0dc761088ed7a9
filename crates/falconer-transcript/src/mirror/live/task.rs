//! The task that owns the store's side of a mirror.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::batch::{Batch, Pending};
use super::error::{Losses, MirrorError};
use super::frame::Frame;
use super::{FlushMode, MirrorOptions};
use crate::mirror::{SessionStore, SessionStoreError};

/// A frame and its share of the queue's budget.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) frame: Bytes,
    pub(crate) permit: OwnedSemaphorePermit,
}

/// A command of the handle to the task.
#[derive(Debug)]
pub(crate) enum Command {
    Frame(Queued),
    Flush(oneshot::Sender<Vec<MirrorError>>),
    Close(oneshot::Sender<Vec<MirrorError>>),
}

pub(crate) async fn run(
    store: Arc<dyn SessionStore>,
    options: MirrorOptions,
    mut inbox: mpsc::Receiver<Command>,
    losses: Arc<Losses>,
) {
    let mut writer = Writer {
        store,
        options,
        pending: Pending::default(),
        errors: Vec::new(),
    };
    while let Some(command) = inbox.recv().await {
        match command {
            Command::Frame(queued) => writer.take_in(queued).await,
            Command::Flush(reply) => writer.answer(reply, &losses).await,
            Command::Close(reply) => return writer.answer(reply, &losses).await,
        }
    }
}

struct Writer {
    store: Arc<dyn SessionStore>,
    options: MirrorOptions,
    pending: Pending,
    errors: Vec<MirrorError>,
}

impl Writer {
    async fn take_in(&mut self, queued: Queued) {
        match Frame::decode(&queued.frame, &self.options.projects_dir) {
            Ok(frame) => self.pending.add(frame, queued.frame.len(), queued.permit),
            Err(error) => self.report(error),
        }
        let full = self.pending.entries > self.options.batch_entries
            || self.pending.bytes > self.options.batch_bytes;
        if full || self.options.flush == FlushMode::Eager {
            self.write_pending().await;
        }
    }

    async fn answer(&mut self, reply: oneshot::Sender<Vec<MirrorError>>, losses: &Losses) {
        self.write_pending().await;
        let mut errors = std::mem::take(&mut self.errors);
        errors.extend(losses.take());
        // Nobody waits any more: keep the errors for the next flush.
        if let Err(errors) = reply.send(errors) {
            self.errors = errors;
        }
    }

    async fn write_pending(&mut self) {
        let (batches, permits) = self.pending.take();
        for batch in batches {
            if let Err(error) = self.write(batch).await {
                self.report(error);
            }
        }
        drop(permits);
    }

    async fn write(&self, batch: Batch) -> Result<(), MirrorError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let Err(source) = self.append_once(&batch).await else {
                return Ok(());
            };
            if attempts == MirrorOptions::ATTEMPTS || !source.is_retryable() {
                return Err(MirrorError::Append {
                    entries: batch.entries.len(),
                    key: batch.key,
                    attempts,
                    source,
                });
            }
            tracing::debug!(key = %batch.key, attempts, %source, "session store refused a batch");
            let pause = self.options.backoff * 4_u32.pow(attempts - 1);
            tokio::time::sleep(pause).await;
        }
    }

    async fn append_once(&self, batch: &Batch) -> Result<(), SessionStoreError> {
        let append = self.store.append(&batch.key, &batch.entries);
        let after = self.options.append_timeout;
        match tokio::time::timeout(after, append).await {
            Ok(done) => done,
            Err(_) => Err(SessionStoreError::Timeout {
                doing: "append",
                after,
            }),
        }
    }

    /// Keeps an error for the next flush; one per transcript and kind, so that a store that
    /// is down for long does not fill the memory.
    fn report(&mut self, error: MirrorError) {
        let same = self.errors.iter().position(|old| {
            std::mem::discriminant(old) == std::mem::discriminant(&error)
                && old.key() == error.key()
        });
        let Some(same) = same else {
            return self.errors.push(error);
        };
        if let (MirrorError::Append { entries: lost, .. }, MirrorError::Append { entries, .. }) =
            (&mut self.errors[same], error)
        {
            *lost += entries;
        }
    }
}
