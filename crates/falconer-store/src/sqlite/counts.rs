//! Counts, and a check that the store works.

use crate::error::Result;
use crate::record::Counts;

use super::SqliteStore;
use super::batch::Batch;
use super::fault::Fault;
use super::row::Columns as _;

pub(super) async fn read(store: &SqliteStore) -> Result<Counts> {
    let states = sqlx::query("SELECT state, count(*) AS n FROM sessions GROUP BY state");
    let mut sessions = store
        .rows(states, |row| Ok((row.word("state")?, row.count("n")?)))
        .await?;
    sessions.sort_unstable();
    let open = sqlx::query(
        "SELECT (SELECT count(*) FROM requests WHERE state = 'pending') AS pending,
                (SELECT count(*) FROM inputs WHERE state = 'queued') AS queued",
    );
    let open = store
        .row(open, |row| {
            Ok((row.count("pending")?, row.count("queued")?))
        })
        .await?;
    let (pending, queued) = open.unwrap_or_default();
    Ok(Counts {
        sessions,
        pending,
        queued,
        bytes: bytes(store),
    })
}

fn bytes(store: &SqliteStore) -> u64 {
    let mut log = store.path().as_os_str().to_owned();
    log.push("-wal");
    let size = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |file| file.len());
    size(store.path()) + size(log.as_ref())
}

/// A write that is flushed like any other and changes nothing.
pub(super) async fn write_nothing(batch: &mut Batch) -> Result<(), Fault> {
    let touch = sqlx::query("UPDATE meta SET rev = rev");
    touch.execute(&mut batch.connection).await?;
    Ok(())
}
