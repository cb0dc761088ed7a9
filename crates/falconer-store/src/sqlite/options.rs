//! Options for opening a store.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use sqlx::ConnectOptions as _;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};

use crate::error::Result;

use super::SqliteStore;
use super::clock::Clock;
use super::fault::{Fault, Place};

/// Pause before a file that somebody else is opening is tried again.
const BETWEEN_TRIES: Duration = Duration::from_millis(2);

/// The failures that an acknowledged write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// A power failure: each commit is flushed to the disk (`synchronous = FULL`).
    #[default]
    PowerLoss,
    /// The death of the process only: after a power failure the last commits may be missing,
    /// though nothing is ever half there (`synchronous = NORMAL`).
    Process,
}

/// Options for opening a store; [`SqliteStore::open`] takes the defaults.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    pub(super) path: PathBuf,
    kind: Kind,
    durability: Durability,
    busy_timeout: Duration,
    readers: u32,
    pub(super) batch: usize,
    pub(super) clock: Clock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Memory,
}

impl SqliteOptions {
    /// The store in this file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            kind: Kind::File,
            durability: Durability::PowerLoss,
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            batch: 256,
            clock: Clock::new(),
        }
    }

    /// A store that is gone with its last reference.
    pub fn in_memory() -> Self {
        // A name that starts with a slash is shared by the connections of this process.
        let name = format!("/falconer-{}", uuid::Uuid::new_v4());
        Self {
            kind: Kind::Memory,
            ..Self::new(name)
        }
    }

    /// Sets the failures that an acknowledged write survives; a power failure unless told
    /// otherwise.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the time for which another process may keep the database before a call fails; 5 seconds
    /// unless told otherwise.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Sets the number of changes that go into one transaction at most; 256 unless told otherwise.
    #[must_use]
    pub fn batch(mut self, changes: usize) -> Self {
        self.batch = changes.max(1);
        self
    }

    /// Opens it.
    pub async fn open(self) -> Result<SqliteStore> {
        SqliteStore::start(self).await
    }

    pub(super) fn is_in_memory(&self) -> bool {
        self.kind == Kind::Memory
    }

    /// Returns the facts about it for errors.
    pub(super) fn place(&self) -> Place {
        Place {
            path: self.path.as_path().into(),
            patience: self.busy_timeout,
        }
    }

    /// The one connection that writes.
    ///
    /// SQLite does not wait when two change a new file to a log at the same time: it refuses one
    /// of them at once, whatever its patience. So the patience is kept here.
    pub(super) async fn connect(&self) -> Result<SqliteConnection, Fault> {
        // What is deleted is overwritten, not only forgotten.
        let options = self.connection().pragma("secure_delete", "ON");
        let begun = Instant::now();
        loop {
            match options.connect().await.map_err(Fault::from) {
                Err(fault) if fault.is_busy() && begun.elapsed() < self.busy_timeout => {
                    tokio::time::sleep(BETWEEN_TRIES).await;
                }
                connected => return connected,
            }
        }
    }

    /// Connections that only read. They are opened when they are needed.
    pub(super) fn readers(&self) -> SqlitePool {
        SqlitePoolOptions::new()
            .max_connections(self.readers)
            .acquire_timeout(self.busy_timeout.max(Duration::from_secs(1)))
            .idle_timeout(Duration::from_secs(60))
            .connect_lazy_with(self.connection().pragma("query_only", "ON"))
    }

    fn connection(&self) -> SqliteConnectOptions {
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .busy_timeout(self.busy_timeout)
            .foreign_keys(true)
            .row_buffer_size(16)
            .disable_statement_logging();
        match self.kind {
            // The log file is cut back after a burst; readers are short, so it stays small.
            Kind::File => options
                .journal_mode(SqliteJournalMode::Wal)
                .pragma("journal_size_limit", "67108864")
                .synchronous(match self.durability {
                    Durability::PowerLoss => SqliteSynchronous::Full,
                    Durability::Process => SqliteSynchronous::Normal,
                }),
            Kind::Memory => options
                .vfs("memdb")
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Memory)
                .synchronous(SqliteSynchronous::Off),
        }
    }
}
