//! Bringing the schema up to date.
//!
//! The version is `user_version` in the header of the file. Each step is a transaction of its
//! own that takes the write lock first, so that two processes that open an old file at the same
//! time take each step once.

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Executor as _};

use crate::error::{Error, Result};

use super::fault::{Fault, Place};

/// The steps, in order; the version is how many were taken. Steps are never changed once
/// released.
const STEPS: &[&str] = &[
    include_str!("../../migrations/0001_first.sql"),
    include_str!("../../migrations/0002_request_cwd.sql"),
    include_str!("../../migrations/0003_nodes.sql"),
    include_str!("../../migrations/0004_last_turn.sql"),
];

/// Marks the file as ours: "flcn".
const APPLICATION: i64 = 0x666c_636e;

/// Takes the steps that are missing. A newer file, and one that is not ours, are left alone.
pub(super) async fn up_to_date(connection: &mut SqliteConnection, place: &Place) -> Result<()> {
    take(connection, place, STEPS).await
}

async fn take(
    connection: &mut SqliteConnection,
    place: &Place,
    steps: &[&'static str],
) -> Result<()> {
    let fail = |fault: Fault| fault.into_error(place, "bring the schema of");
    while missing(connection, place, steps.len()).await? {
        let begun = connection.execute("BEGIN IMMEDIATE").await;
        begun.map_err(|error| fail(error.into()))?;
        let taken = next(connection, place, steps).await;
        let ended = match &taken {
            Ok(()) => connection.execute("COMMIT").await,
            Err(_) => connection.execute("ROLLBACK").await,
        };
        taken?;
        ended.map_err(|error| fail(error.into()))?;
    }
    Ok(())
}

/// Returns `true` if a step is missing.
async fn missing(connection: &mut SqliteConnection, place: &Place, known: usize) -> Result<bool> {
    let fail = |fault: Fault| fault.into_error(place, "read the version of");
    let version = number(connection, "PRAGMA user_version")
        .await
        .map_err(fail)?;
    let application = number(connection, "PRAGMA application_id")
        .await
        .map_err(fail)?;
    let known = known as i64;
    if version > 0 && application != APPLICATION {
        return Err(place.corrupt("it is the database of another program"));
    }
    if version > known {
        return Err(Error::TooNew {
            path: place.path(),
            found: version,
            known,
        });
    }
    Ok(version < known)
}

/// Takes the next step, unless somebody else took it while we waited for the lock.
async fn next(
    connection: &mut SqliteConnection,
    place: &Place,
    steps: &[&'static str],
) -> Result<()> {
    let fail = |fault: Fault| fault.into_error(place, "bring the schema of");
    let version = number(connection, "PRAGMA user_version")
        .await
        .map_err(fail)?;
    let step = usize::try_from(version)
        .ok()
        .and_then(|taken| steps.get(taken));
    let Some(step) = step else {
        return Ok(());
    };
    if version == 0 {
        refuse_strangers(connection, place).await?;
    }
    let mark = format!(
        "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {}",
        version + 1
    );
    for sql in [sqlx::raw_sql(*step), sqlx::raw_sql(AssertSqlSafe(mark))] {
        let done = connection.execute(sql).await;
        done.map_err(|error| fail(error.into()))?;
    }
    Ok(())
}

/// A database without a version that has tables belongs to somebody else.
async fn refuse_strangers(connection: &mut SqliteConnection, place: &Place) -> Result<()> {
    let tables = number(connection, "SELECT count(*) FROM sqlite_schema").await;
    let tables = tables.map_err(|fault| fault.into_error(place, "read the tables of"))?;
    if tables > 0 {
        return Err(place.corrupt("it is the database of another program"));
    }
    Ok(())
}

async fn number(connection: &mut SqliteConnection, sql: &'static str) -> Result<i64, Fault> {
    Ok(sqlx::query_scalar(sql).fetch_one(connection).await?)
}

#[cfg(test)]
mod tests;
