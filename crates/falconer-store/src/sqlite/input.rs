//! Messages of users: rows and changes.

use sqlx::sqlite::SqliteRow;

use crate::error::{Entity, Error};
use crate::id::{MessageId, SessionId};
use crate::record::{Guard, InputRecord, InputState, Inserted, Moved, NewInput};

use super::batch::Batch;
use super::blob;
use super::fault::Fault;
use super::row::{Columns as _, check_texts, json, list};
use super::session;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT i.*, s.id AS session_id FROM inputs i JOIN sessions s ON s.key = i.session ",
            $rest
        )
    };
}

/// One message; takes its id.
pub(super) const BY_ID: &str = select!("WHERE i.id = ?");

/// Messages of a session; takes its id, a list of states, and how many.
pub(super) const OF_SESSION: &str = select!(
    "WHERE s.id = ?1 AND (?2 = '[]' OR i.state IN (SELECT value FROM json_each(?2)))
     ORDER BY i.key DESC LIMIT ?3"
);

const BY_CLIENT: &str = select!("WHERE i.session = ? AND i.client_msg_id = ?");

pub(super) fn read(row: &SqliteRow) -> Result<InputRecord, Fault> {
    Ok(InputRecord {
        id: row.text("id")?.into(),
        session: row.text("session_id")?.into(),
        client_msg_id: row.text("client_msg_id")?,
        text: row.text("text")?,
        attachments: row.json("attachments")?,
        delivery: row.word("delivery")?,
        state: row.word("state")?,
        by: row.maybe_text("sent_by")?,
        created_at: row.time("created_at")?,
    })
}

async fn find(batch: &mut Batch, id: &MessageId) -> Result<InputRecord, Fault> {
    let row = sqlx::query(BY_ID).bind(id.as_str());
    match row.fetch_optional(&mut batch.connection).await? {
        Some(row) => read(&row),
        None => Err(Error::not_found(Entity::Input, id).into()),
    }
}

/// Returns the session that a message was sent to, if there is one.
pub(super) async fn session_of(
    batch: &mut Batch,
    id: &MessageId,
) -> Result<Option<SessionId>, Fault> {
    match find(batch, id).await {
        Ok(record) => Ok(Some(record.session)),
        Err(Fault::Refused(_)) => Ok(None),
        Err(fault) => Err(fault),
    }
}

pub(super) async fn insert(
    batch: &mut Batch,
    new: &NewInput,
) -> Result<Inserted<InputRecord>, Fault> {
    let found = session::find(batch, &new.session).await?;
    found.check(&new.session, new.guard)?;
    let key = found.key;
    let before = sqlx::query(BY_CLIENT)
        .bind(key)
        .bind(new.client_msg_id.as_str());
    if let Some(row) = before.fetch_optional(&mut batch.connection).await? {
        return same_or_conflict(read(&row)?, new);
    }
    let attachments = json(&new.attachments)?;
    let by = new.by.as_deref().unwrap_or_default();
    let texts = [
        &new.text,
        &new.client_msg_id,
        new.id.as_str(),
        by,
        &attachments,
    ];
    check_texts(Entity::Input, texts)?;
    if session_of(batch, &new.id).await?.is_some() {
        return Err(Error::conflict(Entity::Input, &new.id).into());
    }
    for attachment in &new.attachments {
        blob::find(batch, &attachment.id).await?;
    }
    let insert = sqlx::query(
        "INSERT INTO inputs
         (id, session, client_msg_id, text, attachments, delivery, state, sent_by, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    );
    let insert = insert
        .bind(new.id.as_str())
        .bind(key)
        .bind(new.client_msg_id.as_str())
        .bind(new.text.as_str())
        .bind(attachments)
        .bind(new.delivery.as_str())
        .bind(InputState::Queued.as_str())
        .bind(new.by.as_deref())
        .bind(batch.now().as_micros());
    insert.execute(&mut batch.connection).await?;
    for attachment in &new.attachments {
        blob::use_in(batch, &attachment.id, key).await?;
    }
    batch.touch(key, &new.session).await?;
    Ok(Inserted::New(find(batch, &new.id).await?))
}

/// The id of the message and the sender may differ: a client that tries again does not know the
/// first one's.
fn same_or_conflict(found: InputRecord, new: &NewInput) -> Result<Inserted<InputRecord>, Fault> {
    let same = found.text == new.text
        && found.attachments == new.attachments
        && found.delivery == new.delivery;
    if same {
        Ok(Inserted::Existing(found))
    } else {
        Err(Error::conflict(Entity::Input, &new.client_msg_id).into())
    }
}

/// The input of a move.
pub(super) type Move = (MessageId, InputState, InputState, Guard);

pub(super) async fn advance(
    batch: &mut Batch,
    (id, from, to, guard): &Move,
) -> Result<Moved<InputRecord>, Fault> {
    if !from.may_become(*to) {
        let why = format!("a message that is {from} cannot become {to}");
        return Err(Error::Invalid(why).into());
    }
    let record = find(batch, id).await?;
    let found = session::find(batch, &record.session).await?;
    found.check(&record.session, *guard)?;
    if record.state != *from {
        return Ok(Moved::No(record));
    }
    set_state(batch, id, &[*from], *to).await?;
    batch.touch(found.key, &record.session).await?;
    Ok(Moved::Yes(find(batch, id).await?))
}

/// Moves a message on unless it is there or further already.
pub(super) async fn advance_if_possible(
    batch: &mut Batch,
    id: &MessageId,
    to: InputState,
) -> Result<(), Fault> {
    let all = InputState::ALL.iter().copied();
    let from: Vec<_> = all.filter(|from| from.may_become(to)).collect();
    set_state(batch, id, &from, to).await
}

async fn set_state(
    batch: &mut Batch,
    id: &MessageId,
    from: &[InputState],
    to: InputState,
) -> Result<(), Fault> {
    let update = sqlx::query(
        "UPDATE inputs SET state = ?2
         WHERE id = ?1 AND state IN (SELECT value FROM json_each(?3))",
    );
    let from = list(from.iter().map(|state| state.as_str()));
    let update = update.bind(id.as_str()).bind(to.as_str()).bind(from);
    update.execute(&mut batch.connection).await?;
    Ok(())
}
