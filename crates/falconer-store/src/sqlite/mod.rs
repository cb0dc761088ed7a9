//! The store in one SQLite file.
//!
//! One task owns the connection that writes. It takes what is in its queue, of however many
//! sessions, and commits it as one transaction: the cost of a durable commit is shared, and while
//! one is under way the next batch gathers by itself. Readers have connections of their own and,
//! thanks to the write-ahead log, wait for nobody.

mod audit;
mod batch;
mod blob;
mod clock;
mod counts;
mod event;
mod fault;
mod file;
mod input;
mod lease;
mod live;
mod migrate;
mod node;
mod options;
mod poll;
mod request;
mod row;
mod rule;
mod session;
mod store;
mod token;
mod writer;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;
use sqlx::sqlite::{SqlitePool, SqliteRow};
use tokio::sync::broadcast;

use crate::error::{Error, Result};
use crate::watch::Change;

pub use options::{Durability, SqliteOptions};

use batch::Batch;
use fault::{Fault, Place};
use poll::Poll;
use writer::Writer;

/// Hints that wait for a slow watcher; beyond that it is told to look at everything.
const HINTS: usize = 4_096;

/// Size of a change without large content, in bytes of the queue.
const SMALL: usize = 1_024;

/// A store in a file, or in memory.
#[derive(Debug)]
pub struct SqliteStore {
    place: Place,
    readers: SqlitePool,
    writer: Writer,
    poll: Poll,
    clock: clock::Clock,
}

impl SqliteStore {
    /// Opens the store in this file, and makes file and directories if they are missing: for the
    /// user alone. Brings an older schema up to date.
    ///
    /// `TooNew` if a newer version made it, `Corrupt` if it is no database, `ReadOnly` if it
    /// cannot be written.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self> {
        SqliteOptions::new(path).open().await
    }

    /// A store that is gone with its last reference. Everything but durability is as in a file.
    pub async fn in_memory() -> Result<Self> {
        SqliteOptions::in_memory().open().await
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    async fn start(options: SqliteOptions) -> Result<Self> {
        let place = options.place();
        let fail = |fault: Fault| fault.into_error(&place, "open");
        if !options.is_in_memory() {
            file::prepare(&place.path)?;
        }
        let mut connection = options.connect().await.map_err(fail)?;
        migrate::up_to_date(&mut connection, &place).await?;
        let seen = row::revision(&mut connection).await.map_err(fail)?;
        let readers = options.readers();
        let (hints, _) = broadcast::channel::<Change>(HINTS);
        let poll = Poll::new(&options, readers.clone(), hints.clone(), seen);
        let writer = Writer::start(connection, &options, hints, poll.seen());
        Ok(Self {
            place,
            readers,
            writer,
            poll,
            clock: options.clock,
        })
    }

    /// Has the writer make a change.
    async fn write<A, T>(
        &self,
        arguments: A,
        change: for<'a> fn(&'a mut Batch, &'a A) -> BoxFuture<'a, Result<T, Fault>>,
    ) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.writer.ask(arguments, SMALL, change).await
    }

    /// Turns what a reader ran into into an error of ours.
    fn read_error(&self, fault: impl Into<Fault>) -> Error {
        fault.into().into_error(&self.place, "read")
    }

    /// Reads rows with one statement, which is one snapshot.
    async fn rows<T>(
        &self,
        query: sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>,
        read: fn(&SqliteRow) -> Result<T, Fault>,
    ) -> Result<Vec<T>> {
        let rows = query.fetch_all(&self.readers).await;
        let rows = rows.map_err(|error| self.read_error(error))?;
        let read: Result<Vec<T>, Fault> = rows.iter().map(read).collect();
        read.map_err(|fault| self.read_error(fault))
    }

    /// Reads one row, if there is one.
    async fn row<T>(
        &self,
        query: sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>,
        read: fn(&SqliteRow) -> Result<T, Fault>,
    ) -> Result<Option<T>> {
        let row = query.fetch_optional(&self.readers).await;
        let row = row.map_err(|error| self.read_error(error))?;
        let read = row.as_ref().map(read).transpose();
        read.map_err(|fault| self.read_error(fault))
    }
}
