//! Leases: who runs a session.

use std::time::Duration;

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::error::Error;
use crate::id::{Fence, NodeId, SessionId};
use crate::record::{Claim, Death, Guard, Lease};

use super::batch::Batch;
use super::clock::Moment;
use super::fault::Fault;
use super::row::{Columns as _, number};
use super::session;

/// A condition that is true if the lease in a row is over; takes the boot, the monotonic and the
/// wall clock.
macro_rules! is_over {
    ($boot:literal, $monotonic:literal, $wall:literal) => {
        concat!(
            "(CASE WHEN lease_boot = ",
            $boot,
            " THEN lease_mono <= ",
            $monotonic,
            " ELSE lease_until <= ",
            $wall,
            " END)"
        )
    };
}

/// Returns the end of the lease in a row.
pub(super) fn until(row: &SqliteRow) -> Result<Moment, Fault> {
    let monotonic: Option<i64> = row.try_get("lease_mono")?;
    Ok(Moment {
        wall: row.time("lease_until")?,
        // A row of an earlier version has neither.
        boot: row
            .maybe_text("lease_boot")?
            .filter(|_| monotonic.is_some()),
        monotonic: monotonic.unwrap_or_default(),
    })
}

fn read(row: &SqliteRow) -> Result<Lease, Fault> {
    Ok(Lease {
        session: row.text("id")?.into(),
        fence: Fence(row.count("fence")?),
        until: row.time("lease_until")?,
    })
}

pub(super) async fn claim(
    batch: &mut Batch,
    (id, node, ttl): &(SessionId, NodeId, Duration),
) -> Result<Claim, Fault> {
    let revision = batch.revision().await?;
    let now = batch.moment().clone();
    let until = now.plus(*ttl);
    let update = sqlx::query(concat!(
        "UPDATE sessions SET owner = ?2, fence = fence + 1, lease_until = ?3, lease_boot = ?4,
         lease_mono = ?5, rev = ?6
         WHERE id = ?1 AND (owner IS NULL OR owner = ?2 OR ",
        is_over!("?4", "?7", "?8"),
        ") RETURNING id, fence, lease_until"
    ));
    let update = update
        .bind(id.as_str())
        .bind(node.as_str())
        .bind(until.wall.as_micros())
        .bind(until.boot)
        .bind(until.monotonic)
        .bind(revision)
        .bind(now.monotonic)
        .bind(now.wall.as_micros());
    if let Some(row) = update.fetch_optional(&mut batch.connection).await? {
        batch.changed(id);
        return Ok(Claim::Claimed(read(&row)?));
    }
    session::find(batch, id).await?.held()
}

pub(super) async fn renew(
    batch: &mut Batch,
    (node, ttl): &(NodeId, Duration),
) -> Result<Vec<Lease>, Fault> {
    let until = batch.moment().plus(*ttl);
    // Neither the time nor the revision of the session: nothing changed that anybody watches.
    let update = sqlx::query(
        "UPDATE sessions SET lease_until = ?2, lease_boot = ?3, lease_mono = ?4 WHERE owner = ?1
         RETURNING id, fence, lease_until",
    );
    let update = update
        .bind(node.as_str())
        .bind(until.wall.as_micros())
        .bind(until.boot)
        .bind(until.monotonic);
    let rows = update.fetch_all(&mut batch.connection).await?;
    rows.iter().map(read).collect()
}

pub(super) async fn release(
    batch: &mut Batch,
    (id, fence): &(SessionId, Fence),
) -> Result<(), Fault> {
    let revision = batch.revision().await?;
    let update = sqlx::query(
        "UPDATE sessions SET owner = NULL, lease_until = 0, lease_boot = NULL, lease_mono = NULL,
         rev = ?3
         WHERE id = ?1 AND fence = ?2 AND owner IS NOT NULL",
    );
    let update = update
        .bind(id.as_str())
        .bind(number(fence.0))
        .bind(revision);
    if update.execute(&mut batch.connection).await?.rows_affected() == 1 {
        batch.changed(id);
        return Ok(());
    }
    let found = session::find(batch, id).await?;
    found.check(id, Guard::Holder(*fence))?;
    Err(Error::Invalid(format!("session {id} could not be released")).into())
}

pub(super) async fn take_over(
    batch: &mut Batch,
    (dead, death, node, ttl): &(NodeId, Death, NodeId, Duration),
) -> Result<Vec<Lease>, Fault> {
    let revision = batch.revision().await?;
    let now = batch.moment().clone();
    let until = now.plus(*ttl);
    let update = sqlx::query(concat!(
        "UPDATE sessions SET owner = ?2, fence = fence + 1, lease_until = ?3, lease_boot = ?4,
         lease_mono = ?5, rev = ?6
         WHERE owner = ?1 AND owner <> ?2 AND (?9 OR ",
        is_over!("?4", "?7", "?8"),
        ") RETURNING id, fence, lease_until"
    ));
    let update = update
        .bind(dead.as_str())
        .bind(node.as_str())
        .bind(until.wall.as_micros())
        .bind(until.boot)
        .bind(until.monotonic)
        .bind(revision)
        .bind(now.monotonic)
        .bind(now.wall.as_micros())
        .bind(*death == Death::Known);
    let rows = update.fetch_all(&mut batch.connection).await?;
    let leases: Result<Vec<Lease>, Fault> = rows.iter().map(read).collect();
    let leases = leases?;
    for lease in &leases {
        batch.changed(&lease.session);
    }
    forget(batch, dead, *death, &now).await?;
    Ok(leases)
}

/// Forgets a dead node that has no sessions any more.
async fn forget(batch: &mut Batch, dead: &NodeId, death: Death, now: &Moment) -> Result<(), Fault> {
    let delete = sqlx::query(concat!(
        "DELETE FROM nodes WHERE id = ?1 AND (?5 OR ",
        is_over!("?2", "?3", "?4"),
        ") AND NOT EXISTS (SELECT 1 FROM sessions WHERE owner = ?1)"
    ));
    let delete = delete
        .bind(dead.as_str())
        .bind(now.boot.as_deref())
        .bind(now.monotonic)
        .bind(now.wall.as_micros())
        .bind(death == Death::Known);
    delete.execute(&mut batch.connection).await?;
    Ok(())
}
