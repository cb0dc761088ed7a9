//! One transaction with the changes of many callers.

use std::sync::{Arc, LazyLock};

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use crate::id::SessionId;
use crate::record::NewEvent;
use crate::time::Timestamp;
use crate::watch::Change;

use super::clock::{Clock, Moment};
use super::fault::Fault;

/// The connection that writes, and what the transaction under way will have changed.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) connection: SqliteConnection,
    clock: Clock,
    now: Moment,
    revision: Option<i64>,
    changes: Vec<Change>,
    events: Vec<(i64, NewEvent)>,
    deleted: bool,
}

/// The effect of a committed transaction.
#[derive(Debug, Default)]
pub(super) struct Committed {
    /// The revision it made, if it changed anything others watch.
    pub(super) revision: Option<i64>,
    /// Its changes.
    pub(super) changes: Vec<Change>,
    /// `true` if sessions were deleted, so that their events can go.
    pub(super) deleted: bool,
}

impl Batch {
    pub(super) fn new(connection: SqliteConnection, clock: Clock) -> Self {
        Self {
            connection,
            now: clock.now(),
            clock,
            revision: None,
            changes: Vec::new(),
            events: Vec::new(),
            deleted: false,
        }
    }

    /// Starts a transaction; it has the right to write from the beginning.
    pub(super) async fn begin(&mut self) -> Result<(), Fault> {
        self.forget();
        self.connection.execute("BEGIN IMMEDIATE").await?;
        self.now = self.clock.now();
        Ok(())
    }

    /// Makes it durable. If this fails the transaction is over and nothing of it is there.
    pub(super) async fn commit(&mut self) -> Result<Committed, Fault> {
        self.write_events().await?;
        self.connection.execute("COMMIT").await?;
        Ok(Committed {
            revision: self.revision.take(),
            changes: std::mem::take(&mut self.changes),
            deleted: self.deleted,
        })
    }

    /// Undoes it.
    pub(super) async fn roll_back(&mut self) {
        self.forget();
        // After some failures SQLite has done it already, and says so.
        if let Err(error) = self.connection.execute("ROLLBACK").await {
            tracing::debug!(%error, "nothing to roll back");
        }
    }

    /// Lets the file go.
    pub(super) async fn close(self) -> Result<(), Fault> {
        Ok(self.connection.close().await?)
    }

    fn forget(&mut self) {
        self.revision = None;
        self.changes.clear();
        self.events.clear();
        self.deleted = false;
    }

    /// The time of every change in this transaction.
    pub(super) fn now(&self) -> Timestamp {
        self.now.wall
    }

    /// The time by which leases are judged in this transaction.
    pub(super) fn moment(&self) -> &Moment {
        &self.now
    }

    /// The revision this transaction makes.
    pub(super) async fn revision(&mut self) -> Result<i64, Fault> {
        if let Some(revision) = self.revision {
            return Ok(revision);
        }
        let next = sqlx::query_scalar("UPDATE meta SET rev = rev + 1 RETURNING rev");
        let revision = next.fetch_one(&mut self.connection).await?;
        self.revision = Some(revision);
        Ok(revision)
    }

    /// Notes that a session changed; its row has the revision already.
    pub(super) fn changed(&mut self, session: &SessionId) {
        let change = Change::Session(session.clone());
        if self.changes.last() != Some(&change) {
            self.changes.push(change);
        }
    }

    /// Notes that something of a session changed, in its row too.
    pub(super) async fn touch(&mut self, key: i64, session: &SessionId) -> Result<(), Fault> {
        let revision = self.revision().await?;
        let touch = sqlx::query("UPDATE sessions SET updated_at = ?, rev = ? WHERE key = ?")
            .bind(self.now.wall.as_micros())
            .bind(revision)
            .bind(key);
        touch.execute(&mut self.connection).await?;
        self.changed(session);
        Ok(())
    }

    /// Notes that the rules changed.
    pub(super) async fn rules_changed(&mut self) -> Result<(), Fault> {
        let revision = self.revision().await?;
        let touch = sqlx::query("UPDATE meta SET rules_rev = ?").bind(revision);
        touch.execute(&mut self.connection).await?;
        self.changes.push(Change::Rules);
        Ok(())
    }

    /// Notes that a session is gone; its events are removed later, some at a time.
    pub(super) fn deleted(&mut self, session: &SessionId) {
        self.deleted = true;
        self.changed(session);
    }

    /// Takes an event that is written with all others before the commit.
    pub(super) fn add_event(&mut self, position: i64, event: NewEvent) {
        self.events.push((position, event));
    }

    /// Writes the events, many with each statement.
    async fn write_events(&mut self) -> Result<(), Fault> {
        let mut events = std::mem::take(&mut self.events).into_iter();
        while let Some(size) = INSERTS.size_for(events.len()) {
            let sql = Arc::clone(&INSERTS.sql[size]);
            let mut insert = sqlx::query(AssertSqlSafe(sql));
            for (position, event) in events.by_ref().take(INSERTS_OF[size]) {
                insert = insert.bind(position).bind(event.kind).bind(event.json);
            }
            insert.execute(&mut self.connection).await?;
        }
        Ok(())
    }
}

/// Numbers of events that one statement writes. Few sizes, so that each is prepared once.
const INSERTS_OF: [usize; 4] = [128, 16, 4, 1];

struct Inserts {
    sql: [Arc<str>; INSERTS_OF.len()],
}

static INSERTS: LazyLock<Inserts> = LazyLock::new(|| Inserts {
    sql: INSERTS_OF.map(|rows| {
        let values = vec!["(?, ?, ?)"; rows].join(", ");
        format!("INSERT INTO events (position, kind, json) VALUES {values}").into()
    }),
});

impl Inserts {
    /// Returns the size of the statement to use when `left` events are left.
    fn size_for(&self, left: usize) -> Option<usize> {
        INSERTS_OF.iter().position(|rows| *rows <= left)
    }
}
