//! Events: appending, reading in pages, and removing those of deleted sessions.

use std::collections::HashSet;

use futures_util::TryStreamExt as _;
use sqlx::Row as _;
use sqlx::sqlite::{SqlitePool, SqliteRow};

use crate::error::{Entity, Error};
use crate::id::SessionId;
use crate::query::{EventPage, EventQuery};
use crate::record::{Append, EventRow, RequestState};
use crate::store::{MAX_EVENT_BYTES, MAX_PAGE, MAX_PAGE_BYTES};

use super::batch::Batch;
use super::fault::Fault;
use super::live::Live;
use super::row::{Columns as _, list, number};
use super::{input, request};

/// The most events a session can have: the numbers that fit beside its key.
const LAST_SEQ: u64 = u32::MAX as u64;

/// Returns the position of an event.
fn position(key: i64, seq: u64) -> i64 {
    (key << 32) + number(seq.min(LAST_SEQ))
}

/// Returns the size of an append in bytes, for the queue.
pub(super) fn size(append: &Append) -> usize {
    let events = append.events.iter();
    let events: usize = events
        .map(|event| event.json.len() + event.kind.len())
        .sum();
    let requests = append.requests.iter();
    let requests: usize = requests.map(|new| new.input.to_string().len()).sum();
    let rows = append.requests.len() + append.answers.len() + append.inputs.len();
    events + requests + 1_024 * (rows + 1)
}

/// Stores events and what they mean. Everything that can be refused is looked at before
/// anything is written.
pub(super) async fn append(batch: &mut Batch, append: &Append) -> Result<u64, Fault> {
    check_sizes(append)?;
    check_rows(batch, append).await?;
    let count = append.events.len() as u64;
    let live = Live {
        id: &append.session,
        fence: append.fence,
        head: Some(append.first_seq - 1),
        events: count,
        patch: &append.live,
    };
    let key = live.make(batch).await?;
    for (event, seq) in append.events.iter().zip(append.first_seq..) {
        batch.add_event(position(key, seq), event.clone());
    }
    for new in &append.requests {
        request::insert(batch, key, new).await?;
    }
    for (id, decision) in &append.answers {
        request::answer(batch, id, decision).await?;
    }
    for (id, state) in &append.settled {
        request::settle_if_possible(batch, id, *state).await?;
    }
    for (id, state) in &append.inputs {
        input::advance_if_possible(batch, id, *state).await?;
    }
    Ok(append.first_seq - 1 + count)
}

fn check_sizes(append: &Append) -> Result<(), Fault> {
    let last = append.first_seq.checked_add(append.events.len() as u64);
    if append.first_seq == 0 || last.is_none_or(|last| last > LAST_SEQ) {
        let first = append.first_seq;
        let why =
            format!("events of a session are numbered from 1 to {LAST_SEQ}, not from {first}");
        return Err(Error::Invalid(why).into());
    }
    for event in &append.events {
        if event.json.len() > MAX_EVENT_BYTES {
            let error = Error::TooLarge {
                what: Entity::Event,
                size: event.json.len(),
                limit: MAX_EVENT_BYTES,
            };
            return Err(error.into());
        }
    }
    append.requests.iter().try_for_each(request::check_size)?;
    let mut decisions = append.answers.iter().map(|(_, decision)| decision);
    decisions.try_for_each(request::check_decision)
}

/// Refuses requests that exist, and rows to be moved that do not, or not in this session.
async fn check_rows(batch: &mut Batch, append: &Append) -> Result<(), Fault> {
    let mut opened = HashSet::new();
    for new in &append.requests {
        if !opened.insert(&new.id) || request::state(batch, &new.id).await?.is_some() {
            return Err(Error::conflict(Entity::Request, &new.id).into());
        }
    }
    let answered: HashSet<_> = append.answers.iter().map(|(id, _)| id).collect();
    let settled = append.settled.iter().map(|(id, state)| (id, Some(*state)));
    let answers = append.answers.iter().map(|(id, _)| (id, None));
    for (id, state) in settled.chain(answers) {
        let now = match request::state(batch, id).await? {
            Some((session, state)) if session == append.session => state,
            None if opened.contains(id) => RequestState::Pending,
            _ => return Err(Error::not_found(Entity::Request, id).into()),
        };
        let unanswered = now == RequestState::Pending && !answered.contains(id);
        if unanswered && state == Some(RequestState::Delivered) {
            let why = format!("request {id} has no answer that could have been delivered");
            return Err(Error::Invalid(why).into());
        }
    }
    for (id, _) in &append.inputs {
        if input::session_of(batch, id).await?.as_ref() != Some(&append.session) {
            return Err(Error::not_found(Entity::Input, id).into());
        }
    }
    Ok(())
}

/// A page, read with one statement: events and head are of the same moment.
pub(super) async fn page(
    readers: &SqlitePool,
    session: &SessionId,
    query: &EventQuery,
) -> Result<EventPage, Fault> {
    let limit = query.limit.clamp(1, MAX_PAGE);
    let kinds = list(query.kinds.iter().map(String::as_str));
    let rows = sqlx::query(
        "SELECT s.head, e.position & 4294967295 AS seq, e.kind, e.json
         FROM sessions s LEFT JOIN events e
           ON e.position > (s.key << 32) + ?2 AND e.position <= (s.key << 32) + 4294967295
           AND (?3 = '[]' OR e.kind IN (SELECT value FROM json_each(?3)))
         WHERE s.id = ?1 ORDER BY e.position LIMIT ?4",
    );
    let mut rows = rows
        .bind(session.as_str())
        .bind(number(query.after.min(LAST_SEQ)))
        .bind(kinds)
        .bind(number(limit as u64 + 1))
        .fetch(readers);
    let mut page = None;
    let mut bytes = 0;
    while let Some(row) = rows.try_next().await? {
        let page = match &mut page {
            Some(page) => page,
            none => none.insert(EventPage {
                events: Vec::new(),
                head: row.count("head")?,
                more: false,
            }),
        };
        let Some(event) = event(&row)? else {
            break;
        };
        bytes += event.json.len();
        let full = page.events.len() == limit || bytes > MAX_PAGE_BYTES;
        if full && !page.events.is_empty() {
            page.more = true;
            break;
        }
        page.events.push(event);
    }
    page.ok_or_else(|| Error::not_found(Entity::Session, session).into())
}

/// The event of a row; a session without events has one row without.
fn event(row: &SqliteRow) -> Result<Option<EventRow>, Fault> {
    let seq: Option<i64> = row.try_get("seq")?;
    if seq.is_none() {
        return Ok(None);
    }
    Ok(Some(EventRow {
        seq: row.count("seq")?,
        kind: row.text("kind")?,
        json: row.text("json")?,
    }))
}

/// Events removed in one transaction at most.
const REMOVED_AT_ONCE: i64 = 2_000;

/// Removes some events of deleted sessions; how much was done.
pub(super) async fn remove_leftovers(batch: &mut Batch) -> Result<u64, Fault> {
    let doomed = sqlx::query_scalar("SELECT session FROM doomed LIMIT 1");
    let key: Option<i64> = doomed.fetch_optional(&mut batch.connection).await?;
    let Some(key) = key else {
        return Ok(0);
    };
    let remove = sqlx::query(
        "DELETE FROM events WHERE position IN
         (SELECT position FROM events WHERE position BETWEEN ?1 AND ?2 LIMIT ?3)",
    );
    let remove = remove
        .bind(position(key, 0))
        .bind(position(key, LAST_SEQ))
        .bind(REMOVED_AT_ONCE);
    let removed = remove.execute(&mut batch.connection).await?.rows_affected();
    if removed == 0 {
        let done = sqlx::query("DELETE FROM doomed WHERE session = ?").bind(key);
        done.execute(&mut batch.connection).await?;
    }
    Ok(removed + 1)
}
