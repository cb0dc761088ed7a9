//! Sessions in the store of the server, read and changed without it.
//!
//! A session that somebody runs is left alone: whoever holds its lease would not notice.

use std::path::{Path, PathBuf};

use falconer_event::Event;
use falconer_store::{
    Archived, Error, EventQuery, Guard, InputQuery, MAX_PAGE, NodeId, SessionId, SessionPatch,
    SessionQuery, SessionRecord, SqliteStore, Store,
};

use super::conversation::{self, Part};
use crate::exit::{Exit, Fault};
use crate::ids;

/// The store of the server, if there is one.
#[derive(Debug)]
pub(super) struct Kept {
    store: SqliteStore,
    path: PathBuf,
}

impl Kept {
    /// Opens the store in this file. One that is not there is not made.
    pub(super) async fn open(path: PathBuf) -> Result<Option<Self>, Fault> {
        if path.exists() {
            match SqliteStore::open(&path).await {
                Ok(store) => Ok(Some(Self { store, path })),
                Err(error) => Err(unusable(&path, &error)),
            }
        } else {
            Ok(None)
        }
    }

    /// All sessions, those in the archive too, the one that changed last first.
    pub(super) async fn all(&self) -> Result<Vec<SessionRecord>, Fault> {
        let mut query = SessionQuery::default();
        query.archived = Archived::Any;
        query.limit = MAX_PAGE;
        let mut all = Vec::new();
        loop {
            let page = self.store.sessions(query.clone()).await;
            let page = page.map_err(|error| self.failed(&error))?;
            all.extend(page.sessions);
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(all),
            }
        }
    }

    /// What to call a session: its title, else what was said first.
    pub(super) async fn title(&self, record: &SessionRecord) -> String {
        if let Some(title) = &record.title {
            return title.clone();
        }
        let inputs = self.store.inputs(&record.id, InputQuery::default()).await;
        let first = inputs.ok().and_then(|inputs| inputs.into_iter().next());
        first.map(|first| first.text).unwrap_or_default()
    }

    /// What was said and done, as the events tell it.
    pub(super) async fn parts(&self, id: &SessionId) -> Result<Vec<Part>, Fault> {
        let mut parts = Vec::new();
        self.each_event(id, |json| {
            // An event of another version says nothing here.
            if let Ok(event) = serde_json::from_str::<Event>(json) {
                conversation::read_event(&event, &mut parts);
            }
        })
        .await?;
        Ok(parts)
    }

    /// The events as they are, one per line.
    pub(super) async fn raw(&self, id: &SessionId) -> Result<String, Fault> {
        let mut text = String::new();
        self.each_event(id, |json| {
            text += json;
            text.push('\n');
        })
        .await?;
        Ok(text)
    }

    async fn each_event(&self, id: &SessionId, mut see: impl FnMut(&str)) -> Result<(), Fault> {
        let mut after = 0;
        loop {
            let page = self.store.events(id, EventQuery::after(after)).await;
            let page = page.map_err(|error| self.failed(&error))?;
            page.events.iter().for_each(|event| see(&event.json));
            match page.events.last() {
                Some(last) if page.more => after = last.seq,
                _ => return Ok(()),
            }
        }
    }

    /// A copy, whose conversation the engine copies when it gets its first message.
    pub(super) async fn fork(
        &self,
        id: &SessionId,
        title: Option<String>,
    ) -> Result<SessionId, Fault> {
        let node = format!("falconer-sessions-{}", std::process::id());
        let copy = falconer_hub::fork_in(&self.store, &node.into(), id, title).await;
        let copy = copy.map_err(|error| {
            Fault::new(
                Exit::Session,
                error,
                "a session can be forked once its agent has answered",
            )
        })?;
        Ok(copy.id)
    }

    pub(super) async fn rename(&self, record: &SessionRecord, title: &str) -> Result<(), Fault> {
        self.check_free(record).await?;
        let patch = SessionPatch::default().title(Some(title.to_owned()));
        let renamed = self.store.update_session(&record.id, patch).await;
        renamed.map(drop).map_err(|error| self.failed(&error))
    }

    /// Refuses a session that somebody runs, or ran when he died: only a server may tidy up.
    pub(super) async fn check_free(&self, record: &SessionRecord) -> Result<(), Fault> {
        let now = self.store.session(&record.id).await;
        let now = now.map_err(|error| self.failed(&error))?;
        match &now.owner {
            None => Ok(()),
            Some(owner) => Err(in_use(&record.id, &self.runner(owner).await)),
        }
    }

    /// Who runs a session, in words.
    async fn runner(&self, node: &NodeId) -> String {
        let owners = self.store.owners().await.unwrap_or_default();
        let owner = owners.into_iter().find(|owner| owner.node == *node);
        falconer_hub::whereabouts(owner.and_then(|owner| owner.about).as_ref())
    }

    pub(super) async fn delete(&self, id: &SessionId) -> Result<(), Fault> {
        let deleted = self.store.delete_session(id, Guard::Anyone).await;
        deleted.map_err(|error| self.failed(&error))
    }

    /// Finishes what was written.
    pub(super) async fn close(&self) {
        // Everything that was answered is on the disk already.
        let _ = self.store.close().await;
    }

    fn failed(&self, error: &Error) -> Fault {
        match error {
            Error::Held { session, .. } => in_use(session, &falconer_hub::whereabouts(None)),
            Error::NotFound { .. } => Fault::new(
                Exit::Session,
                error,
                "`falconer sessions list --all` lists all sessions",
            ),
            _ => unusable(&self.path, error),
        }
    }
}

fn in_use(id: &SessionId, who: &str) -> Fault {
    let short = ids::shortened(&[id.as_str()]).concat();
    Fault::new(
        Exit::Session,
        format!("session {short} is running in another process: {who}"),
        "wait for the run to end, or change it through the server: on its page, or with \
         `/v1/sessions`; if that died, start `falconer serve` once, which tidies up",
    )
}

fn unusable(path: &Path, error: &Error) -> Fault {
    let hint = match error {
        Error::Corrupt { .. } => "restore a backup, or move the file away",
        Error::TooNew { .. } => "update falconer",
        Error::ReadOnly { .. } => "make the file and its directory writable by you",
        Error::Full { .. } => "free disk space",
        _ => "try again; `falconer doctor` may show more",
    };
    let text = format!("failed to use the store {}: {error}", path.display());
    Fault::setup(text, hint)
}
