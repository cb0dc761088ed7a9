//! The audit: rows and the one change there is.

use sqlx::sqlite::SqliteRow;

use crate::error::Entity;
use crate::id::AuditId;
use crate::record::{AuditRecord, NewAudit};

use super::batch::Batch;
use super::fault::Fault;
use super::row::{Columns as _, check_texts, json};

/// Some records; takes the id before them and how many.
pub(super) const PAGE: &str = "SELECT * FROM audit WHERE id > ? ORDER BY id LIMIT ?";

pub(super) fn read(row: &SqliteRow) -> Result<AuditRecord, Fault> {
    Ok(AuditRecord {
        id: AuditId(row.count("id")?),
        at: row.time("at")?,
        who: row.text("who")?,
        action: row.text("action")?,
        session: row.maybe_text("session")?.map(Into::into),
        detail: row.json("detail")?,
    })
}

pub(super) async fn add(batch: &mut Batch, new: &NewAudit) -> Result<AuditId, Fault> {
    let detail = json(&new.detail)?;
    check_texts(
        Entity::Audit,
        [&new.who, &new.action, &detail].map(String::as_str),
    )?;
    let insert = sqlx::query(
        "INSERT INTO audit (at, who, action, session, detail) VALUES (?, ?, ?, ?, ?) RETURNING id",
    );
    let insert = insert
        .bind(batch.now().as_micros())
        .bind(new.who.as_str())
        .bind(new.action.as_str())
        .bind(new.session.as_ref().map(|id| id.as_str().to_owned()))
        .bind(detail);
    let row = insert.fetch_one(&mut batch.connection).await?;
    Ok(AuditId(row.count("id")?))
}
