//! Permissions and questions: rows and changes.

use serde_json::Value;
use sqlx::sqlite::SqliteRow;

use crate::error::{Entity, Error};
use crate::id::{RequestId, SessionId};
use crate::record::{
    Decided, DecisionRecord, Guard, Moved, NewRequest, RequestRecord, RequestState,
};
use crate::time::Timestamp;

use super::batch::Batch;
use super::fault::Fault;
use super::row::{Columns as _, check_texts, json, list};
use super::session;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT r.*, s.id AS session_id FROM requests r JOIN sessions s ON s.key = r.session ",
            $rest
        )
    };
}

/// One request; takes its id.
pub(super) const BY_ID: &str = select!("WHERE r.id = ?");

/// Requests; takes a session or null, a list of states, and how many.
pub(super) const ALL: &str = select!(
    "WHERE (?1 IS NULL OR s.id = ?1)
     AND (?2 = '[]' OR r.state IN (SELECT value FROM json_each(?2)))
     ORDER BY r.key DESC LIMIT ?3"
);

pub(super) fn read(row: &SqliteRow) -> Result<RequestRecord, Fault> {
    Ok(RequestRecord {
        id: row.text("id")?.into(),
        session: row.text("session_id")?.into(),
        kind: row.word("kind")?,
        tool: row.maybe_text("tool")?,
        tool_use_id: row.maybe_text("tool_use_id")?,
        input: row.json("input")?,
        digest: row.text("digest")?,
        title: row.maybe_text("title")?,
        description: row.maybe_text("description")?,
        blocked_path: row.maybe_text("blocked_path")?,
        reason: row.maybe_text("reason")?,
        cwd: row.maybe_text("cwd")?,
        suggestions: row.json("suggestions")?,
        agent: row.maybe_text("agent")?,
        requested_at: row.time("requested_at")?,
        expires_at: row.maybe_time("expires_at")?,
        state: row.word("state")?,
        decision: row.maybe_json("decision")?,
    })
}

async fn find(batch: &mut Batch, id: &RequestId) -> Result<Option<RequestRecord>, Fault> {
    let row = sqlx::query(BY_ID).bind(id.as_str());
    let row = row.fetch_optional(&mut batch.connection).await?;
    row.as_ref().map(read).transpose()
}

async fn must_find(batch: &mut Batch, id: &RequestId) -> Result<RequestRecord, Fault> {
    let found = find(batch, id).await?;
    found.ok_or_else(|| Error::not_found(Entity::Request, id).into())
}

/// Whose it is and how far it came, if there is one.
pub(super) async fn state(
    batch: &mut Batch,
    id: &RequestId,
) -> Result<Option<(SessionId, RequestState)>, Fault> {
    let found = find(batch, id).await?;
    Ok(found.map(|record| (record.session, record.state)))
}

/// Refuses what is too large, before anything is written.
pub(super) fn check_size(new: &NewRequest) -> Result<(), Error> {
    let json = [&new.input, &Value::from(new.suggestions.clone())].map(Value::to_string);
    let texts = [
        Some(new.digest.as_str()),
        Some(new.id.as_str()),
        new.tool.as_deref(),
        new.tool_use_id.as_deref(),
        new.title.as_deref(),
        new.description.as_deref(),
        new.blocked_path.as_deref(),
        new.reason.as_deref(),
        new.cwd.as_deref(),
        new.agent.as_deref(),
    ];
    let texts = texts.into_iter().flatten();
    check_texts(
        Entity::Request,
        texts.chain(json.iter().map(String::as_str)),
    )
}

pub(super) async fn insert(batch: &mut Batch, key: i64, new: &NewRequest) -> Result<(), Fault> {
    let insert = sqlx::query(
        "INSERT INTO requests (id, session, kind, tool, tool_use_id, input, digest, title,
         description, blocked_path, reason, cwd, suggestions, agent, requested_at, expires_at,
         state)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    );
    let insert = insert
        .bind(new.id.as_str())
        .bind(key)
        .bind(new.kind.as_str())
        .bind(new.tool.as_deref())
        .bind(new.tool_use_id.as_deref())
        .bind(json(&new.input)?)
        .bind(new.digest.as_str())
        .bind(new.title.as_deref())
        .bind(new.description.as_deref())
        .bind(new.blocked_path.as_deref())
        .bind(new.reason.as_deref())
        .bind(new.cwd.as_deref())
        .bind(json(&new.suggestions)?)
        .bind(new.agent.as_deref())
        .bind(batch.now().as_micros())
        .bind(new.expires_at.map(Timestamp::as_micros))
        .bind(RequestState::Pending.as_str());
    insert.execute(&mut batch.connection).await?;
    Ok(())
}

/// The input of an answer.
pub(super) type Answer = (RequestId, String, DecisionRecord);

pub(super) async fn decide(
    batch: &mut Batch,
    (id, digest, decision): &Answer,
) -> Result<Decided, Fault> {
    check_decision(decision)?;
    let Some(record) = find(batch, id).await? else {
        return Ok(Decided::NotFound);
    };
    match record.state {
        RequestState::Expired | RequestState::Withdrawn => return Ok(Decided::Gone(record)),
        _ if record.digest != *digest => return Ok(Decided::Changed(record)),
        RequestState::Answered | RequestState::Delivered => return Ok(Decided::Lost(record)),
        RequestState::Pending => {}
    }
    answer(batch, id, decision).await?;
    let key = session::find(batch, &record.session).await?.key;
    batch.touch(key, &record.session).await?;
    Ok(Decided::Won(must_find(batch, id).await?))
}

/// Refuses what is too large, before anything is written.
pub(super) fn check_decision(decision: &DecisionRecord) -> Result<(), Fault> {
    let text = json(decision)?;
    Ok(check_texts(Entity::Request, [text.as_str()])?)
}

/// Stores an answer unless there is one.
pub(super) async fn answer(
    batch: &mut Batch,
    id: &RequestId,
    decision: &DecisionRecord,
) -> Result<(), Fault> {
    let decision = json(decision)?;
    let update = sqlx::query(
        "UPDATE requests SET state = 'answered', decision = ? WHERE id = ? AND state = 'pending'",
    );
    let update = update.bind(decision).bind(id.as_str());
    update.execute(&mut batch.connection).await?;
    Ok(())
}

/// The input of settling.
pub(super) type Settle = (RequestId, RequestState, Guard);

pub(super) async fn settle(
    batch: &mut Batch,
    (id, to, guard): &Settle,
) -> Result<Moved<RequestRecord>, Fault> {
    if matches!(to, RequestState::Pending | RequestState::Answered) {
        return Err(Error::Invalid(format!("no request ends as {to}")).into());
    }
    let record = must_find(batch, id).await?;
    let found = session::find(batch, &record.session).await?;
    found.check(&record.session, *guard)?;
    if !record.state.may_become(*to) {
        return Ok(Moved::No(record));
    }
    settle_if_possible(batch, id, *to).await?;
    batch.touch(found.key, &record.session).await?;
    Ok(Moved::Yes(must_find(batch, id).await?))
}

/// Settles a request unless it is settled.
pub(super) async fn settle_if_possible(
    batch: &mut Batch,
    id: &RequestId,
    to: RequestState,
) -> Result<(), Fault> {
    let all = RequestState::ALL.iter().copied();
    let from = list(
        all.filter(|from| from.may_become(to))
            .map(RequestState::as_str),
    );
    let update = sqlx::query(
        "UPDATE requests SET state = ?2
         WHERE id = ?1 AND state IN (SELECT value FROM json_each(?3))",
    );
    let update = update.bind(id.as_str()).bind(to.as_str()).bind(from);
    update.execute(&mut batch.connection).await?;
    Ok(())
}
