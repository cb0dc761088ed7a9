//! Watching what other processes do with the same file.
//!
//! Every transaction that changes a session or a rule makes the next revision and stamps what it
//! changed. `seen` is the last revision up to which watchers were told everything; the writer
//! moves it along with its own commits, so that looking costs one small read as long as this
//! process is alone.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::sqlite::SqlitePool;
use tokio::sync::{Notify, broadcast};
use tokio::task::AbortHandle;

use crate::watch::{Change, Watcher};

use super::SqliteOptions;
use super::fault::Fault;
use super::session::DELETED_KEPT;

/// Interval of looking while somebody watches.
const EVERY: Duration = Duration::from_millis(500);

/// More changed sessions than this are "everything".
const MANY: i64 = 1_000;

#[derive(Debug)]
pub(super) struct Poll {
    hints: Mutex<Option<broadcast::Sender<Change>>>,
    seen: Arc<AtomicI64>,
    watched: Arc<Notify>,
    task: Option<AbortHandle>,
}

impl Poll {
    pub(super) fn new(
        options: &SqliteOptions,
        readers: SqlitePool,
        hints: broadcast::Sender<Change>,
        seen: i64,
    ) -> Self {
        let seen = Arc::new(AtomicI64::new(seen));
        let watched = Arc::new(Notify::new());
        let eye = Eye {
            readers,
            hints: hints.clone(),
            seen: Arc::clone(&seen),
            watched: Arc::clone(&watched),
        };
        // Nobody else can reach a store in memory.
        let task = (!options.is_in_memory()).then(|| tokio::spawn(eye.look()).abort_handle());
        Self {
            hints: Mutex::new(Some(hints)),
            seen,
            watched,
            task,
        }
    }

    /// The last revision watchers were told of.
    pub(super) fn seen(&self) -> Arc<AtomicI64> {
        Arc::clone(&self.seen)
    }

    pub(super) fn watcher(&self) -> Watcher {
        let hints = self.hints.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = match &*hints {
            Some(hints) => hints.subscribe(),
            // The sender is gone at once: the watcher ends.
            None => broadcast::channel(1).1,
        };
        self.watched.notify_one();
        Watcher::new(receiver)
    }

    pub(super) fn close(&self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        self.hints
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}

impl Drop for Poll {
    fn drop(&mut self) {
        self.close();
    }
}

struct Eye {
    readers: SqlitePool,
    hints: broadcast::Sender<Change>,
    seen: Arc<AtomicI64>,
    watched: Arc<Notify>,
}

impl Eye {
    async fn look(self) {
        loop {
            if self.hints.receiver_count() == 0 {
                self.watched.notified().await;
                continue;
            }
            if let Err(fault) = self.look_once().await {
                tracing::debug!(?fault, "could not look for changes of other processes");
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn look_once(&self) -> Result<(), Fault> {
        let meta = sqlx::query_as("SELECT rev, rules_rev FROM meta");
        let (revision, rules): (i64, i64) = meta.fetch_one(&self.readers).await?;
        let seen = self.seen.load(Ordering::Acquire);
        if revision <= seen {
            return Ok(());
        }
        let mut changes = self.sessions_since(seen, revision).await?;
        if rules > seen {
            changes.push(Change::Rules);
        }
        self.seen.fetch_max(revision, Ordering::AcqRel);
        for change in changes {
            let _ = self.hints.send(change);
        }
        Ok(())
    }

    async fn sessions_since(&self, seen: i64, revision: i64) -> Result<Vec<Change>, Fault> {
        if revision - seen > DELETED_KEPT {
            return Ok(vec![Change::Everything]);
        }
        let changed = sqlx::query_scalar(
            "SELECT id FROM sessions WHERE rev > ?1
             UNION ALL SELECT id FROM deleted WHERE rev > ?1 LIMIT ?2",
        );
        let changed = changed.bind(seen).bind(MANY + 1);
        let ids: Vec<String> = changed.fetch_all(&self.readers).await?;
        if ids.len() as i64 > MANY {
            return Ok(vec![Change::Everything]);
        }
        Ok(ids
            .into_iter()
            .map(|id| Change::Session(id.into()))
            .collect())
    }
}
