//! Changes of a live session: only the holder of its lease makes them.

use crate::error::Error;
use crate::id::{Fence, SessionId};
use crate::record::{Guard, LivePatch, SessionRecord, SessionState};

use super::batch::Batch;
use super::fault::Fault;
use super::row::{json, number};
use super::session::{find, reread};

pub(super) async fn update(
    batch: &mut Batch,
    (id, fence, patch): &(SessionId, Fence, LivePatch),
) -> Result<SessionRecord, Fault> {
    let change = Live {
        id,
        fence: *fence,
        head: None,
        events: 0,
        patch,
    };
    change.make(batch).await?;
    reread(batch, id).await
}

/// A change of a live session, in one statement that checks as it writes.
#[derive(Debug)]
pub(super) struct Live<'a> {
    pub(super) id: &'a SessionId,
    pub(super) fence: Fence,
    /// The head there must be.
    pub(super) head: Option<u64>,
    /// Number of events that come after it.
    pub(super) events: u64,
    pub(super) patch: &'a LivePatch,
}

impl Live<'_> {
    /// Makes it and gives the key of the session.
    pub(super) async fn make(&self, batch: &mut Batch) -> Result<i64, Fault> {
        let revision = batch.revision().await?;
        let tokens = self.patch.tokens.as_ref().map(json).transpose()?;
        let last_turn = self.patch.last_turn.as_ref().map(json).transpose()?;
        let update = sqlx::query_scalar(
            "UPDATE sessions SET head = head + ?1, updated_at = ?2, rev = ?3,
             state = coalesce(?4, state), native_session = coalesce(?5, native_session),
             run = CASE WHEN ?6 THEN ?7 ELSE run END, model = coalesce(?8, model),
             mode = coalesce(?9, mode), tokens = coalesce(?10, tokens),
             cost_usd = coalesce(?11, cost_usd), config = CASE WHEN ?15 IS NULL THEN config
               WHEN json_type(config) = 'object' THEN json_set(config, '$.sandbox', ?15)
               ELSE json_object('sandbox', ?15) END,
             last_turn = coalesce(?16, last_turn)
             WHERE id = ?12 AND fence = ?13 AND owner IS NOT NULL AND (?14 IS NULL OR head = ?14)
             RETURNING key",
        );
        let run = self.patch.run.as_ref();
        let update = update
            .bind(number(self.events))
            .bind(batch.now().as_micros())
            .bind(revision)
            .bind(self.patch.state.map(SessionState::as_str))
            .bind(self.patch.native_session.as_deref())
            .bind(run.is_some())
            .bind(
                run.and_then(Option::as_ref)
                    .map(|run| run.as_str().to_owned()),
            )
            .bind(self.patch.model.as_deref())
            .bind(self.patch.mode.as_deref())
            .bind(tokens)
            .bind(self.patch.cost_usd)
            .bind(self.id.as_str())
            .bind(number(self.fence.0))
            .bind(self.head.map(number))
            .bind(self.patch.sandbox.as_deref())
            .bind(last_turn);
        let key: Option<i64> = update.fetch_optional(&mut batch.connection).await?;
        match key {
            Some(key) => {
                batch.changed(self.id);
                Ok(key)
            }
            None => Err(self.refusal(batch).await?.into()),
        }
    }

    /// Returns the reason the statement changed nothing.
    async fn refusal(&self, batch: &mut Batch) -> Result<Error, Fault> {
        let found = find(batch, self.id).await?;
        if let Err(stale) = found.check(self.id, Guard::Holder(self.fence)) {
            return Ok(stale);
        }
        Ok(Error::WrongSequence {
            session: self.id.clone(),
            expected: found.head + 1,
            given: self.head.map_or(0, |head| head + 1),
        })
    }
}
