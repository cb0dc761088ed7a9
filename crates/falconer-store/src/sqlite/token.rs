//! Tokens: rows and changes.

use std::time::Duration;

use sqlx::sqlite::SqliteRow;

use crate::error::{Entity, Error};
use crate::id::TokenId;
use crate::record::{NewToken, TokenRecord};
use crate::time::Timestamp;

use super::batch::Batch;
use super::fault::Fault;
use super::row::{Columns as _, check_texts, json};

/// All tokens.
pub(super) const ALL: &str = "SELECT * FROM tokens ORDER BY key";
/// One token; takes its id.
pub(super) const BY_ID: &str = "SELECT * FROM tokens WHERE id = ?";
/// One token; takes the hash of its secret.
pub(super) const BY_HASH: &str = "SELECT * FROM tokens WHERE hash = ?";

/// Uses closer together than this are one.
const USE: Duration = Duration::from_secs(60);

pub(super) fn read(row: &SqliteRow) -> Result<TokenRecord, Fault> {
    Ok(TokenRecord {
        id: row.text("id")?.into(),
        name: row.text("name")?,
        hash: row.text("hash")?.into(),
        scopes: row.json("scopes")?,
        created_at: row.time("created_at")?,
        last_used: row.maybe_time("last_used")?,
        revoked_at: row.maybe_time("revoked_at")?,
    })
}

/// Returns `true` if a use now has to be written down.
pub(super) fn is_new_use(token: &TokenRecord) -> bool {
    let limit = Timestamp::now().minus(USE);
    token.last_used.is_none_or(|last| last < limit)
}

async fn find(batch: &mut Batch, id: &TokenId) -> Result<TokenRecord, Fault> {
    let row = sqlx::query(BY_ID).bind(id.as_str());
    match row.fetch_optional(&mut batch.connection).await? {
        Some(row) => read(&row),
        None => Err(Error::not_found(Entity::Token, id).into()),
    }
}

pub(super) async fn add(batch: &mut Batch, new: &NewToken) -> Result<TokenRecord, Fault> {
    check_texts(Entity::Token, [new.name.as_str(), new.hash.as_str()])?;
    let taken = sqlx::query(BY_HASH).bind(new.hash.as_str());
    if taken.fetch_optional(&mut batch.connection).await?.is_some() {
        return Err(Error::conflict(Entity::Token, &new.name).into());
    }
    let id = TokenId::generate();
    let insert = sqlx::query(
        "INSERT INTO tokens (id, name, hash, scopes, created_at) VALUES (?, ?, ?, ?, ?)",
    );
    let insert = insert
        .bind(id.as_str())
        .bind(new.name.as_str())
        .bind(new.hash.as_str())
        .bind(json(&new.scopes)?)
        .bind(batch.now().as_micros());
    insert.execute(&mut batch.connection).await?;
    find(batch, &id).await
}

pub(super) async fn touch(batch: &mut Batch, id: &TokenId) -> Result<(), Fault> {
    let update = sqlx::query("UPDATE tokens SET last_used = ?2 WHERE id = ?1");
    let update = update.bind(id.as_str()).bind(batch.now().as_micros());
    update.execute(&mut batch.connection).await?;
    Ok(())
}

pub(super) async fn revoke(batch: &mut Batch, id: &TokenId) -> Result<TokenRecord, Fault> {
    let update =
        sqlx::query("UPDATE tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL");
    let update = update.bind(id.as_str()).bind(batch.now().as_micros());
    update.execute(&mut batch.connection).await?;
    find(batch, id).await
}
