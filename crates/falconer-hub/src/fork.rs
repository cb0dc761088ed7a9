//! A copy of a session that goes its own way.

use std::time::Duration;

use falconer_event::{Event, Failure, Image};
use falconer_store::{
    Append, Archived, Claim, Error as StoreError, EventQuery, EventRow, LivePatch, NewBlob,
    NewEvent, NewSession, NodeId, SessionId, SessionQuery, SessionRecord, SessionState, Store,
};
use serde_json::{Value, json};

use crate::error::Error;
use crate::hub::Hub;
use crate::isolation::SessionIsolation;
use crate::keeper::written;
use crate::loose_ends::LooseEnds;
use crate::recovery;

/// Where the conversation to copy is named in the record of a fork.
const ORIGIN: &str = "fork_of";

/// The engine's id of the conversation that a session is a copy of, if it is one.
pub(crate) fn origin(config: &Value) -> Option<&str> {
    config.get(ORIGIN)?.as_str()
}

/// Refuses if a copy needs the conversation of a session that is to be deleted. Only those of
/// sessions that are kept apart go with them; the others stay where the engine keeps them.
pub(crate) async fn refuse_if_needed(
    store: &dyn Store,
    record: &SessionRecord,
) -> Result<(), Error> {
    if SessionIsolation::of(&record.config).is_ok_and(|kept| kept == SessionIsolation::None {}) {
        return Ok(());
    }
    let mut query = SessionQuery::default();
    (query.parent, query.archived) = (Some(record.id.clone()), Archived::Any);
    loop {
        let page = store.sessions(query.clone()).await?;
        let waits = |copy: &&SessionRecord| copy.native_session.is_none();
        if let Some(copy) = page.sessions.iter().find(waits) {
            return Err(Error::Copied {
                session: record.id.clone(),
                copy: copy.id.clone(),
            });
        }
        match page.next {
            Some(next) => query.cursor = Some(next),
            None => return Ok(()),
        }
    }
}

impl Hub {
    /// Makes a copy of a session with its log so far. The engine copies the conversation when
    /// the copy gets its first message.
    ///
    /// # Errors
    /// `Invalid` if the session has no conversation yet, or the store's.
    pub async fn fork(
        &self,
        session: &SessionId,
        title: Option<String>,
    ) -> Result<SessionRecord, Error> {
        let shared = &self.shared;
        let copier = Copier {
            store: shared.store.as_ref(),
            node: &shared.node.id,
            lease: shared.config.lease,
        };
        copier.copy(session, title).await
    }
}

/// Makes a copy of a session, as [`Hub::fork`] does, in a store of which no hub is open here.
/// `node` names whoever does it, for the moment in which the copy is written.
///
/// # Errors
/// `Invalid` if the session has no conversation yet, or the store's.
pub async fn fork_in(
    store: &dyn Store,
    node: &NodeId,
    session: &SessionId,
    title: Option<String>,
) -> Result<SessionRecord, Error> {
    let lease = Duration::from_secs(30);
    let copier = Copier { store, node, lease };
    copier.copy(session, title).await
}

/// What a copy is made with.
struct Copier<'a> {
    store: &'a dyn Store,
    node: &'a NodeId,
    lease: Duration,
}

impl Copier<'_> {
    async fn copy(
        &self,
        session: &SessionId,
        title: Option<String>,
    ) -> Result<SessionRecord, Error> {
        let parent = self.store.session(session).await?;
        let Some(native) = &parent.native_session else {
            return Err(Error::Invalid(format!(
                "session {session} has no conversation yet that could be copied"
            )));
        };
        let copy = self
            .store
            .create_session(copy_of(&parent, native, title))
            .await?;
        match self.copy_log(session, &copy.id).await {
            Ok(()) => Ok(self.store.session(&copy.id).await?),
            Err(error) => {
                let guard = falconer_store::Guard::Anyone;
                if let Err(error) = self.store.delete_session(&copy.id, guard).await {
                    tracing::warn!(%error, "failed to remove half a copy of a session");
                }
                Err(error)
            }
        }
    }

    /// Copies the events and closes what is open at the end of them.
    async fn copy_log(&self, from: &SessionId, to: &SessionId) -> Result<(), Error> {
        let fence = match self.store.claim(to, self.node, self.lease).await? {
            Claim::Claimed(lease) => lease.fence,
            _ => {
                return Err(Error::Invalid(
                    "the copy was taken by somebody else".to_owned(),
                ));
            }
        };
        let mut ends = LooseEnds::default();
        let mut last = 0;
        loop {
            let page = self.store.events(from, EventQuery::after(last)).await?;
            let mut copies = Vec::new();
            for row in &page.events {
                copies.push(self.copy_event(row, to, &mut ends).await?);
            }
            let first = last + 1;
            last += copies.len() as u64;
            if !copies.is_empty() {
                let append = Append::new(to.clone(), fence, first, copies);
                self.store.append(append).await?;
            }
            if !page.more {
                break;
            }
        }
        let mut end = Append::new(to.clone(), fence, last + 1, Vec::new());
        if let Some(run) = ends.run().cloned() {
            let failure = Failure::new("forked", "the copy was made before the run ended");
            end.events = recovery::events(to, last, &run, ends.tie(Some(failure)));
        }
        end.live = LivePatch::default().state(SessionState::Idle).run(None);
        self.store.append(end).await?;
        Ok(self.store.release(to, fence).await?)
    }

    async fn copy_event(
        &self,
        row: &EventRow,
        to: &SessionId,
        ends: &mut LooseEnds,
    ) -> Result<NewEvent, Error> {
        let Ok(mut event) = serde_json::from_str::<Event>(&row.json) else {
            return renamed(row, to);
        };
        event.session = to.to_string();
        for image in event.body.images_mut() {
            image.id = self.copy_image(image, to).await?;
        }
        ends.note(event.clone());
        let (kind, json) = written(&event);
        Ok(NewEvent::new(kind, json))
    }

    /// The copy has its images even when the original is deleted; their bytes are kept once.
    async fn copy_image(&self, image: &Image, to: &SessionId) -> Result<Option<String>, Error> {
        let Some(id) = &image.id else {
            return Ok(None);
        };
        let found = match self.store.blob(&id.as_str().into()).await {
            Ok(found) => found,
            Err(StoreError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let bytes = self.store.blob_bytes(&found.hash).await?;
        let copy = NewBlob::new(found.media_type, bytes).session(to.clone());
        Ok(Some(self.store.put_blob(copy).await?.id.to_string()))
    }
}

fn copy_of(parent: &SessionRecord, native: &str, title: Option<String>) -> NewSession {
    let mut copy = NewSession::new(&*parent.engine, &*parent.cwd);
    copy.title = title.or_else(|| {
        let title = parent.title.as_deref()?;
        Some(format!("{title} (copy)"))
    });
    copy.model.clone_from(&parent.model);
    copy.mode.clone_from(&parent.mode);
    copy.parent = Some(parent.id.clone());
    let mut config = parent.config.clone();
    match &mut config {
        Value::Object(fields) => {
            fields.insert(ORIGIN.to_owned(), json!(native));
            // It has not run yet, so nothing is known of its sandbox.
            fields.remove("sandbox");
        }
        _ => config = json!({ORIGIN: native}),
    }
    copy.config = config;
    copy
}

/// An event of another version: copied as it is, but for the name of the session.
fn renamed(row: &EventRow, session: &SessionId) -> Result<NewEvent, Error> {
    let mut value: Value = serde_json::from_str(&row.json)
        .map_err(|error| Error::Invalid(format!("an event cannot be copied: {error}")))?;
    value["session"] = json!(session);
    Ok(NewEvent::new(&*row.kind, value.to_string()))
}
