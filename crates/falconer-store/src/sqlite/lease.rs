//! Leases: who runs a session.

use std::time::Duration;

use sqlx::sqlite::SqliteRow;

use crate::error::Error;
use crate::id::{Fence, NodeId, SessionId};
use crate::record::{Claim, Guard, Lease, Owner};
use crate::time::Timestamp;

use super::batch::Batch;
use super::fault::Fault;
use super::row::{Columns as _, number};
use super::session;

/// Everybody who holds leases.
pub(super) const OWNERS: &str = "SELECT owner, count(*) AS sessions, max(lease_until) AS until
     FROM sessions WHERE owner IS NOT NULL GROUP BY owner ORDER BY owner";

pub(super) fn read_owner(row: &SqliteRow) -> Result<Owner, Fault> {
    Ok(Owner {
        node: row.text("owner")?.into(),
        sessions: row.count("sessions")?,
        until: row.time("until")?,
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
    let now = batch.now();
    let update = sqlx::query(
        "UPDATE sessions SET owner = ?2, fence = fence + 1, lease_until = ?3, rev = ?4
         WHERE id = ?1 AND (owner IS NULL OR owner = ?2 OR lease_until <= ?5)
         RETURNING id, fence, lease_until",
    );
    let update = update
        .bind(id.as_str())
        .bind(node.as_str())
        .bind(now.plus(*ttl).as_micros())
        .bind(revision)
        .bind(now.as_micros());
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
    // Neither the time nor the revision of the session: nothing changed that anybody watches.
    let update = sqlx::query(
        "UPDATE sessions SET lease_until = ?2 WHERE owner = ?1 RETURNING id, fence, lease_until",
    );
    let until = batch.now().plus(*ttl);
    let update = update.bind(node.as_str()).bind(until.as_micros());
    let rows = update.fetch_all(&mut batch.connection).await?;
    rows.iter().map(read).collect()
}

pub(super) async fn release(
    batch: &mut Batch,
    (id, fence): &(SessionId, Fence),
) -> Result<(), Fault> {
    let revision = batch.revision().await?;
    let update = sqlx::query(
        "UPDATE sessions SET owner = NULL, lease_until = 0, rev = ?3
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

/// Which leases are taken.
#[derive(Debug, Clone)]
pub(super) enum Whose {
    /// Those that ran out before this time.
    Expired(Timestamp),
    /// Those of this node.
    Node(NodeId),
}

pub(super) async fn take(
    batch: &mut Batch,
    (whose, node, ttl): &(Whose, NodeId, Duration),
) -> Result<Vec<Lease>, Fault> {
    let (before, dead) = match whose {
        Whose::Expired(now) => (now.as_micros(), None),
        Whose::Node(dead) => (i64::MAX, Some(dead.as_str())),
    };
    let revision = batch.revision().await?;
    let update = sqlx::query(
        "UPDATE sessions SET owner = ?1, fence = fence + 1, lease_until = ?2, rev = ?3
         WHERE owner IS NOT NULL AND owner <> ?1 AND lease_until <= ?4
         AND (?5 IS NULL OR owner = ?5)
         RETURNING id, fence, lease_until",
    );
    let update = update
        .bind(node.as_str())
        .bind(batch.now().plus(*ttl).as_micros())
        .bind(revision)
        .bind(before)
        .bind(dead);
    let rows = update.fetch_all(&mut batch.connection).await?;
    let leases: Result<Vec<Lease>, Fault> = rows.iter().map(read).collect();
    let leases = leases?;
    for lease in &leases {
        batch.changed(&lease.session);
    }
    Ok(leases)
}
