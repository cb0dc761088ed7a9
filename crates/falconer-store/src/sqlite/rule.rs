//! Rules: rows and changes.

use sqlx::sqlite::SqliteRow;

use crate::error::{Entity, Error};
use crate::id::RuleId;
use crate::record::{NewRule, RuleEffect, RulePatch, RuleRecord, RuleScope};

use super::batch::Batch;
use super::fault::Fault;
use super::row::{Columns as _, check_texts};
use super::session;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT r.*, s.id AS session_id FROM rules r LEFT JOIN sessions s ON s.key = r.session ",
            $rest
        )
    };
}

const BY_ID: &str = select!("WHERE r.id = ?");

/// All rules, or those of one session and those that are for more than one; takes null or the
/// session.
pub(super) const ALL: &str =
    select!("WHERE ?1 IS NULL OR r.session IS NULL OR s.id = ?1 ORDER BY r.key");

pub(super) fn read(row: &SqliteRow) -> Result<RuleRecord, Fault> {
    Ok(RuleRecord {
        id: row.text("id")?.into(),
        text: row.text("text")?,
        effect: row.word("effect")?,
        scope: scope(row)?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
        used: row.count("used")?,
        last_used: row.maybe_time("last_used")?,
    })
}

fn scope(row: &SqliteRow) -> Result<RuleScope, Fault> {
    Ok(match row.text("scope")?.as_str() {
        "session" => RuleScope::Session {
            id: row.text("session_id")?.into(),
        },
        "project" => RuleScope::Project {
            path: row.text("path")?,
        },
        "user" => RuleScope::User,
        other => {
            return Err(Fault::Unreadable(format!(
                "column scope: {other:?} is none"
            )));
        }
    })
}

/// A scope as its three columns.
type Columns<'a> = (&'static str, Option<i64>, Option<&'a str>);

async fn columns<'a>(batch: &mut Batch, scope: &'a RuleScope) -> Result<Columns<'a>, Fault> {
    Ok(match scope {
        RuleScope::Session { id } => ("session", Some(session::find(batch, id).await?.key), None),
        RuleScope::Project { path } => ("project", None, Some(path.as_str())),
        RuleScope::User => ("user", None, None),
    })
}

fn check_size(text: &str, path: Option<&str>) -> Result<(), Error> {
    check_texts(Entity::Rule, [text, path.unwrap_or_default()])
}

async fn find(batch: &mut Batch, id: &RuleId) -> Result<RuleRecord, Fault> {
    let row = sqlx::query(BY_ID).bind(id.as_str());
    match row.fetch_optional(&mut batch.connection).await? {
        Some(row) => read(&row),
        None => Err(Error::not_found(Entity::Rule, id).into()),
    }
}

pub(super) async fn add(batch: &mut Batch, new: &NewRule) -> Result<RuleRecord, Fault> {
    let (scope, session, path) = columns(batch, &new.scope).await?;
    check_size(&new.text, path)?;
    let id = RuleId::generate();
    let insert = sqlx::query(
        "INSERT INTO rules (id, text, effect, scope, session, path, created_by, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    );
    let insert = insert
        .bind(id.as_str())
        .bind(new.text.as_str())
        .bind(new.effect.as_str())
        .bind(scope)
        .bind(session)
        .bind(path)
        .bind(new.created_by.as_str())
        .bind(batch.now().as_micros());
    insert.execute(&mut batch.connection).await?;
    batch.rules_changed().await?;
    find(batch, &id).await
}

pub(super) async fn update(
    batch: &mut Batch,
    (id, patch): &(RuleId, RulePatch),
) -> Result<RuleRecord, Fault> {
    let before = find(batch, id).await?;
    let scope = patch.scope.as_ref().unwrap_or(&before.scope);
    let (scope, session, path) = columns(batch, scope).await?;
    check_size(patch.text.as_deref().unwrap_or_default(), path)?;
    let update = sqlx::query(
        "UPDATE rules SET text = coalesce(?2, text), effect = coalesce(?3, effect),
         scope = ?4, session = ?5, path = ?6 WHERE id = ?1",
    );
    let update = update
        .bind(id.as_str())
        .bind(patch.text.as_deref())
        .bind(patch.effect.map(RuleEffect::as_str))
        .bind(scope)
        .bind(session)
        .bind(path);
    update.execute(&mut batch.connection).await?;
    batch.rules_changed().await?;
    find(batch, id).await
}

pub(super) async fn remove(batch: &mut Batch, id: &RuleId) -> Result<(), Fault> {
    let remove = sqlx::query("DELETE FROM rules WHERE id = ?").bind(id.as_str());
    let removed = remove.execute(&mut batch.connection).await?;
    if removed.rows_affected() == 0 {
        return Err(Error::not_found(Entity::Rule, id).into());
    }
    batch.rules_changed().await
}

pub(super) async fn count_use(batch: &mut Batch, id: &RuleId) -> Result<RuleRecord, Fault> {
    let update = sqlx::query("UPDATE rules SET used = used + 1, last_used = ?2 WHERE id = ?1");
    let update = update.bind(id.as_str()).bind(batch.now().as_micros());
    let used = update.execute(&mut batch.connection).await?;
    if used.rows_affected() == 0 {
        return Err(Error::not_found(Entity::Rule, id).into());
    }
    batch.rules_changed().await?;
    find(batch, id).await
}
