//! Sessions: rows and changes.

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::error::{Entity, Error};
use crate::id::{Fence, NodeId, SessionId};
use crate::query::{Archived, Cursor, SessionPage, SessionQuery};
use crate::record::{Claim, Guard, NewSession, SessionPatch, SessionRecord, SessionState};
use crate::store::MAX_PAGE;

use super::batch::Batch;
use super::blob;
use super::clock::Moment;
use super::fault::Fault;
use super::lease;
use super::row::{Columns as _, check_texts, json, list, number};

/// Deletions other processes can still be told of, in revisions.
pub(super) const DELETED_KEPT: i64 = 10_000;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT s.*, p.id AS parent_id, (SELECT count(*) FROM requests r",
            " WHERE r.session = s.key AND r.state = 'pending') AS pending",
            " FROM sessions s LEFT JOIN sessions p ON p.key = s.parent ",
            $rest
        )
    };
}

/// One session; takes its id.
pub(super) const BY_ID: &str = select!("WHERE s.id = ?");

/// Some sessions; [`bind_page`] knows what it takes.
pub(super) const PAGE: &str = select!(
    "WHERE (s.updated_at, s.id) < (?1, ?2)
     AND (?3 = '[]' OR s.state IN (SELECT value FROM json_each(?3)))
     AND (?4 IS NULL OR s.archived = ?4)
     AND (?5 IS NULL OR instr(lower(coalesce(s.title, '')), ?5) > 0
          OR instr(lower(s.cwd), ?5) > 0)
     AND (?7 IS NULL OR s.native_session = ?7)
     AND (?8 IS NULL OR p.id = ?8)
     ORDER BY s.updated_at DESC, s.id DESC LIMIT ?6"
);

/// Reads a row of [`BY_ID`] or [`PAGE`].
pub(super) fn read(row: &SqliteRow) -> Result<SessionRecord, Fault> {
    Ok(SessionRecord {
        id: row.text("id")?.into(),
        title: row.maybe_text("title")?,
        engine: row.text("engine")?,
        model: row.maybe_text("model")?,
        mode: row.text("mode")?,
        cwd: row.text("cwd")?,
        state: row.word("state")?,
        last_turn: row.maybe_json("last_turn")?,
        native_session: row.maybe_text("native_session")?,
        run: row.maybe_text("run")?.map(Into::into),
        head: row.count("head")?,
        parent: row.maybe_text("parent_id")?.map(Into::into),
        config: row.json("config")?,
        tokens: row.json("tokens")?,
        cost_usd: row.try_get("cost_usd")?,
        pinned: row.flag("pinned")?,
        archived: row.flag("archived")?,
        pending: row.count("pending")?,
        owner: row.maybe_text("owner")?.map(Into::into),
        fence: Fence(row.count("fence")?),
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

/// The conditions of a page.
#[derive(Debug)]
pub(super) struct Page {
    before: (i64, String),
    states: String,
    archived: Option<bool>,
    text: Option<String>,
    native_session: Option<String>,
    parent: Option<SessionId>,
    pub(super) limit: usize,
}

impl Page {
    pub(super) fn new(query: SessionQuery) -> Self {
        let states = query.states.iter().map(|state| state.as_str());
        Self {
            before: match query.cursor {
                Some(cursor) => (cursor.updated_at.as_micros(), cursor.id.to_string()),
                None => (i64::MAX, String::new()),
            },
            states: list(states),
            archived: match query.archived {
                Archived::Hide => Some(false),
                Archived::Only => Some(true),
                Archived::Any => None,
            },
            // SQLite lowers ASCII letters only, so we do the same.
            text: query.text.map(|text| text.to_ascii_lowercase()),
            native_session: query.native_session,
            parent: query.parent,
            limit: query.limit.clamp(1, MAX_PAGE),
        }
    }

    /// The query; it asks for one more than the page holds.
    pub(super) fn query(
        &self,
    ) -> sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments> {
        sqlx::query(PAGE)
            .bind(self.before.0)
            .bind(self.before.1.as_str())
            .bind(self.states.as_str())
            .bind(self.archived)
            .bind(self.text.as_deref())
            .bind(number(self.limit as u64 + 1))
            .bind(self.native_session.as_deref())
            .bind(self.parent.as_ref().map(SessionId::as_str))
    }

    /// The page, from what was found.
    pub(super) fn cut(&self, mut sessions: Vec<SessionRecord>) -> SessionPage {
        let more = sessions.len() > self.limit;
        sessions.truncate(self.limit);
        let last = sessions.last().filter(|_| more);
        SessionPage {
            next: last.map(Cursor::at),
            sessions,
        }
    }
}

/// The facts that decide about a change.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) key: i64,
    pub(super) head: u64,
    fence: Fence,
    owner: Option<NodeId>,
    until: Moment,
}

impl Found {
    /// Refuses whoever is not what the guard asks for.
    pub(super) fn check(&self, id: &SessionId, guard: Guard) -> Result<(), Error> {
        match guard {
            Guard::Anyone => Ok(()),
            Guard::Holder(fence) if self.owner.is_some() && fence == self.fence => Ok(()),
            Guard::Holder(fence) => Err(Error::StaleFence {
                session: id.clone(),
                fence,
                current: self.fence,
            }),
        }
    }

    /// Returns its holder.
    pub(super) fn held(self) -> Result<Claim, Fault> {
        match self.owner {
            Some(owner) => Ok(Claim::Held {
                owner,
                until: self.until.wall,
            }),
            None => Err(Fault::Unreadable(
                "a session nobody holds was held".to_owned(),
            )),
        }
    }

    /// Refuses if somebody runs the session.
    fn check_free(&self, id: &SessionId, now: &Moment) -> Result<(), Error> {
        match &self.owner {
            Some(owner) if !self.until.is_over(now) => Err(self.held_by(id, owner)),
            _ => Ok(()),
        }
    }

    /// Refuses if anybody but this node has the session, whether its lease ran out or not: it
    /// may run until somebody takes it.
    fn check_not_elsewhere(&self, id: &SessionId, node: &NodeId) -> Result<(), Error> {
        match &self.owner {
            Some(owner) if owner != node => Err(self.held_by(id, owner)),
            _ => Ok(()),
        }
    }

    fn held_by(&self, id: &SessionId, owner: &NodeId) -> Error {
        Error::Held {
            session: id.clone(),
            owner: owner.clone(),
            until: self.until.wall,
        }
    }
}

/// The session, or `NotFound`.
pub(super) async fn find(batch: &mut Batch, id: &SessionId) -> Result<Found, Fault> {
    let find = sqlx::query(
        "SELECT key, head, fence, owner, lease_until, lease_boot, lease_mono
         FROM sessions WHERE id = ?",
    );
    let row = find.bind(id.as_str()).fetch_optional(&mut batch.connection);
    let Some(row) = row.await? else {
        return Err(Error::not_found(Entity::Session, id).into());
    };
    Ok(Found {
        key: row.try_get("key")?,
        head: row.count("head")?,
        fence: Fence(row.count("fence")?),
        owner: row.maybe_text("owner")?.map(Into::into),
        until: lease::until(&row)?,
    })
}

/// The record after a change.
pub(super) async fn reread(batch: &mut Batch, id: &SessionId) -> Result<SessionRecord, Fault> {
    let row = sqlx::query(BY_ID).bind(id.as_str());
    match row.fetch_optional(&mut batch.connection).await? {
        Some(row) => read(&row),
        None => Err(Error::not_found(Entity::Session, id).into()),
    }
}

pub(super) async fn create(batch: &mut Batch, new: &NewSession) -> Result<SessionRecord, Fault> {
    let config = json(&new.config)?;
    let (title, model) = (new.title.as_deref(), new.model.as_deref());
    let optional = [title, model, new.native_session.as_deref()];
    let texts = [new.id.as_str(), &new.engine, &new.mode, &new.cwd, &config];
    check_texts(Entity::Session, optional.into_iter().flatten().chain(texts))?;
    let taken = sqlx::query("SELECT 1 FROM sessions WHERE id = ?").bind(new.id.as_str());
    if taken.fetch_optional(&mut batch.connection).await?.is_some() {
        return Err(Error::conflict(Entity::Session, &new.id).into());
    }
    let parent = match &new.parent {
        Some(parent) => Some(find(batch, parent).await?.key),
        None => None,
    };
    let revision = batch.revision().await?;
    let insert = sqlx::query(
        "INSERT INTO sessions (id, title, engine, model, mode, cwd, state, native_session, parent,
         config, tokens, created_at, updated_at, rev)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, ?13)",
    );
    let insert = insert
        .bind(new.id.as_str())
        .bind(new.title.as_deref())
        .bind(new.engine.as_str())
        .bind(new.model.as_deref())
        .bind(new.mode.as_str())
        .bind(new.cwd.as_str())
        .bind(SessionState::Idle.as_str())
        .bind(new.native_session.as_deref())
        .bind(parent)
        .bind(config)
        .bind(json(&falconer_event::Tokens::default())?)
        .bind(batch.now().as_micros())
        .bind(revision);
    insert.execute(&mut batch.connection).await?;
    batch.changed(&new.id);
    reread(batch, &new.id).await
}

pub(super) async fn update(
    batch: &mut Batch,
    (id, patch): &(SessionId, SessionPatch),
) -> Result<SessionRecord, Fault> {
    let config = patch.config.as_ref().map(json).transpose()?;
    let (title, model) = (patch.title.as_ref(), patch.model.as_ref());
    let (title, model) = (
        title.and_then(Option::as_deref),
        model.and_then(Option::as_deref),
    );
    let texts = [title, model, patch.mode.as_deref(), config.as_deref()];
    check_texts(Entity::Session, texts.into_iter().flatten())?;
    let found = find(batch, id).await?;
    if let Some(node) = &patch.unless_elsewhere {
        found.check_not_elsewhere(id, node)?;
    }
    let update = sqlx::query(
        "UPDATE sessions SET
         title = CASE WHEN ?2 THEN ?3 ELSE title END,
         model = CASE WHEN ?4 THEN ?5 ELSE model END,
         mode = coalesce(?6, mode), pinned = coalesce(?7, pinned),
         archived = coalesce(?8, archived), config = coalesce(?9, config)
         WHERE key = ?1",
    );
    let update = update
        .bind(found.key)
        .bind(patch.title.is_some())
        .bind(title)
        .bind(patch.model.is_some())
        .bind(model)
        .bind(patch.mode.as_deref())
        .bind(patch.pinned)
        .bind(patch.archived)
        .bind(config);
    update.execute(&mut batch.connection).await?;
    batch.touch(found.key, id).await?;
    reread(batch, id).await
}

/// Removes the session and all but its events, which go later, some at a time.
pub(super) async fn delete(
    batch: &mut Batch,
    (id, guard): &(SessionId, Guard),
) -> Result<(), Fault> {
    let found = find(batch, id).await?;
    match guard {
        Guard::Anyone => found.check_free(id, batch.moment())?,
        Guard::Holder(_) => found.check(id, *guard)?,
    }
    blob::forget_session(batch, found.key).await?;
    let rules = sqlx::query("DELETE FROM rules WHERE session = ?").bind(found.key);
    if rules.execute(&mut batch.connection).await?.rows_affected() > 0 {
        batch.rules_changed().await?;
    }
    let revision = batch.revision().await?;
    for sql in [
        "INSERT INTO doomed (session) VALUES (?)",
        "DELETE FROM sessions WHERE key = ?",
    ] {
        let delete = sqlx::query(sql).bind(found.key);
        delete.execute(&mut batch.connection).await?;
    }
    let note = sqlx::query("INSERT INTO deleted (rev, id) VALUES (?, ?)");
    let note = note.bind(revision).bind(id.as_str());
    note.execute(&mut batch.connection).await?;
    let prune = sqlx::query("DELETE FROM deleted WHERE rev < ?").bind(revision - DELETED_KEPT);
    prune.execute(&mut batch.connection).await?;
    batch.deleted(id);
    Ok(())
}
