//! Nodes: the processes that may run sessions.

use std::time::Duration;

use sqlx::sqlite::SqliteRow;

use crate::id::NodeId;
use crate::record::{Node, Owner};

use super::batch::Batch;
use super::clock::Moment;
use super::fault::Fault;
use super::lease;
use super::row::{Columns as _, json};

/// Every lease, of nodes and of sessions, by node.
pub(super) const ALL: &str = "SELECT id AS node, about, lease_until, lease_boot, lease_mono,
       0 AS sessions FROM nodes
     UNION ALL SELECT owner, NULL, lease_until, lease_boot, lease_mono, 1
       FROM sessions WHERE owner IS NOT NULL
     ORDER BY node";

/// A row of [`ALL`].
#[derive(Debug)]
pub(super) struct Held {
    node: NodeId,
    about: Option<Node>,
    sessions: u64,
    until: Moment,
}

pub(super) fn read(row: &SqliteRow) -> Result<Held, Fault> {
    Ok(Held {
        node: row.text("node")?.into(),
        about: row.maybe_json("about")?,
        sessions: row.count("sessions")?,
        until: lease::until(row)?,
    })
}

/// One owner for the rows of each node.
pub(super) fn owners(rows: Vec<Held>, now: &Moment) -> Vec<Owner> {
    let mut owners: Vec<Owner> = Vec::new();
    for row in rows {
        let is_expired = row.until.is_over(now);
        match owners.last_mut().filter(|owner| owner.node == row.node) {
            Some(owner) => {
                owner.about = owner.about.take().or(row.about);
                owner.sessions += row.sessions;
                owner.until = owner.until.max(row.until.wall);
                owner.is_expired &= is_expired;
            }
            None => owners.push(Owner {
                node: row.node,
                about: row.about,
                sessions: row.sessions,
                until: row.until.wall,
                is_expired,
            }),
        }
    }
    owners
}

pub(super) async fn join(batch: &mut Batch, (node, ttl): &(Node, Duration)) -> Result<(), Fault> {
    let until = batch.moment().plus(*ttl);
    let insert = sqlx::query(
        "INSERT INTO nodes (id, about, lease_until, lease_boot, lease_mono)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO UPDATE SET about = ?2, lease_until = ?3, lease_boot = ?4,
         lease_mono = ?5",
    );
    let insert = insert
        .bind(node.id.as_str())
        .bind(json(node)?)
        .bind(until.wall.as_micros())
        .bind(until.boot)
        .bind(until.monotonic);
    insert.execute(&mut batch.connection).await?;
    Ok(())
}

/// Forgets a node without sessions.
pub(super) async fn leave(batch: &mut Batch, node: &NodeId) -> Result<(), Fault> {
    let delete = sqlx::query(
        "DELETE FROM nodes WHERE id = ?1
         AND NOT EXISTS (SELECT 1 FROM sessions WHERE owner = ?1)",
    );
    let delete = delete.bind(node.as_str());
    delete.execute(&mut batch.connection).await?;
    Ok(())
}
