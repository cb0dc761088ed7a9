//! Attachments and long outputs: rows and changes.

use sqlx::sqlite::SqliteRow;

use crate::error::{Entity, Error};
use crate::id::{BlobHash, BlobId};
use crate::record::{BlobRecord, NewBlob};
use crate::store::MAX_BLOB_BYTES;
use crate::time::Timestamp;

use super::batch::Batch;
use super::fault::Fault;
use super::row::{Columns as _, list, number};
use super::session;

/// One blob; takes its id.
pub(super) const BY_ID: &str = "SELECT * FROM blobs WHERE id = ?";
/// Bytes; takes their hash.
pub(super) const BYTES: &str = "SELECT bytes FROM contents WHERE hash = ?";

pub(super) fn read(row: &SqliteRow) -> Result<BlobRecord, Fault> {
    Ok(BlobRecord {
        id: row.text("id")?.into(),
        hash: row.text("hash")?.into(),
        name: row.maybe_text("name")?,
        media_type: row.text("media_type")?,
        size: row.count("size")?,
        created_at: row.time("created_at")?,
    })
}

/// Refuses what is too large, before it is queued.
pub(super) fn check_size(new: &NewBlob) -> Result<(), Error> {
    if new.bytes.len() > MAX_BLOB_BYTES {
        return Err(Error::TooLarge {
            what: Entity::Blob,
            size: new.bytes.len(),
            limit: MAX_BLOB_BYTES,
        });
    }
    Ok(())
}

pub(super) async fn find(batch: &mut Batch, id: &BlobId) -> Result<BlobRecord, Fault> {
    let row = sqlx::query(BY_ID).bind(id.as_str());
    match row.fetch_optional(&mut batch.connection).await? {
        Some(row) => read(&row),
        None => Err(Error::not_found(Entity::Blob, id).into()),
    }
}

/// The input of storing; the hash is made before, outside of the writer.
pub(super) type Put = (NewBlob, BlobHash);

pub(super) async fn put(batch: &mut Batch, (new, hash): &Put) -> Result<BlobRecord, Fault> {
    let session = match &new.session {
        Some(id) => Some(session::find(batch, id).await?.key),
        None => None,
    };
    let content = sqlx::query("INSERT OR IGNORE INTO contents (hash, bytes) VALUES (?, ?)");
    let content = content.bind(hash.as_str()).bind(new.bytes.as_slice());
    content.execute(&mut batch.connection).await?;
    let id = BlobId::generate();
    let insert = sqlx::query(
        "INSERT INTO blobs (id, hash, name, media_type, size, created_at)
         VALUES (?, ?, ?, ?, ?, ?)",
    );
    let insert = insert
        .bind(id.as_str())
        .bind(hash.as_str())
        .bind(new.name.as_deref())
        .bind(new.media_type.as_str())
        .bind(number(new.bytes.len() as u64))
        .bind(batch.now().as_micros());
    insert.execute(&mut batch.connection).await?;
    if let Some(key) = session {
        use_in(batch, &id, key).await?;
    }
    find(batch, &id).await
}

/// Notes that a session uses a blob.
pub(super) async fn use_in(batch: &mut Batch, id: &BlobId, session: i64) -> Result<(), Fault> {
    let insert = sqlx::query(
        "INSERT OR IGNORE INTO blob_uses (session, blob) SELECT ?1, key FROM blobs WHERE id = ?2",
    );
    let insert = insert.bind(session).bind(id.as_str());
    insert.execute(&mut batch.connection).await?;
    Ok(())
}

/// Removes the blobs only this session uses.
pub(super) async fn forget_session(batch: &mut Batch, session: i64) -> Result<(), Fault> {
    let keys = sqlx::query_scalar(
        "SELECT u.blob FROM blob_uses u WHERE u.session = ?1 AND NOT EXISTS
         (SELECT 1 FROM blob_uses o WHERE o.blob = u.blob AND o.session <> ?1)",
    );
    let keys: Vec<i64> = keys.bind(session).fetch_all(&mut batch.connection).await?;
    remove(batch, &keys).await
}

/// Removes blobs nobody uses, some at a time; how many.
pub(super) async fn sweep(batch: &mut Batch, before: &Timestamp) -> Result<u64, Fault> {
    let keys = sqlx::query_scalar(
        "SELECT key FROM blobs WHERE created_at < ?
         AND NOT EXISTS (SELECT 1 FROM blob_uses u WHERE u.blob = blobs.key) LIMIT 100",
    );
    let keys = keys.bind(before.as_micros());
    let keys: Vec<i64> = keys.fetch_all(&mut batch.connection).await?;
    remove(batch, &keys).await?;
    Ok(keys.len() as u64)
}

/// Removes blobs, and their bytes if no other blob has the same.
async fn remove(batch: &mut Batch, keys: &[i64]) -> Result<(), Fault> {
    if keys.is_empty() {
        return Ok(());
    }
    let keys = serde_json::Value::from(keys).to_string();
    let delete = sqlx::query_scalar(
        "DELETE FROM blobs WHERE key IN (SELECT value FROM json_each(?)) RETURNING hash",
    );
    let hashes: Vec<String> = delete.bind(keys).fetch_all(&mut batch.connection).await?;
    let contents = sqlx::query(
        "DELETE FROM contents WHERE hash IN (SELECT value FROM json_each(?))
         AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.hash = contents.hash)",
    );
    let contents = contents.bind(list(hashes.iter().map(String::as_str)));
    contents.execute(&mut batch.connection).await?;
    Ok(())
}
