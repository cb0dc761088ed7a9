//! What a session store has to do.

use falconer_protocol::SessionId;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

use super::entry::SessionStoreEntry;
use super::key::SessionKey;
use super::summary::SummaryEntry;
use crate::store_error::SessionStoreError;

/// What a store returns in the end.
pub type SessionStoreFuture<'a, T> = BoxFuture<'a, Result<T, SessionStoreError>>;

/// A place outside of this machine, or beside it, that keeps copies of transcripts.
///
/// `append` and `load` are required. The others are optional: a store says in
/// [`SessionStore::capabilities`] which of them it has, and the functions that need a
/// missing one say so. [`conformance::run`](super::conformance::run) checks a store.
///
/// Entries are opaque. Most have a `uuid`; a store should take an entry it already has once
/// only, because a batch may arrive again after a failure or an import.
///
/// ```
/// use std::sync::Mutex;
/// use falconer::mirror::{SessionKey, SessionStore, SessionStoreEntry, SessionStoreFuture};
///
/// #[derive(Debug, Default)]
/// struct Tiny(Mutex<Vec<(SessionKey, SessionStoreEntry)>>);
///
/// impl SessionStore for Tiny {
///     fn append<'a>(&'a self, key: &'a SessionKey, entries: &'a [SessionStoreEntry]) -> SessionStoreFuture<'a, ()> {
///         Box::pin(async move {
///             let mut all = self.0.lock().unwrap();
///             all.extend(entries.iter().map(|entry| (key.clone(), entry.clone())));
///             Ok(())
///         })
///     }
///
///     fn load<'a>(&'a self, key: &'a SessionKey) -> SessionStoreFuture<'a, Option<Vec<SessionStoreEntry>>> {
///         Box::pin(async move {
///             let all = self.0.lock().unwrap();
///             let of_key = all.iter().filter(|(of, _)| of == key);
///             let found: Vec<_> = of_key.map(|(_, entry)| entry.clone()).collect();
///             Ok((!found.is_empty()).then_some(found))
///         })
///     }
/// }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # falconer::mirror::conformance::run(|| async { Box::new(Tiny::default()) as _ }).await.unwrap();
/// # });
/// ```
pub trait SessionStore: Send + Sync + 'static {
    /// Adds entries behind those of earlier calls; no entries is no change.
    fn append<'a>(
        &'a self,
        key: &'a SessionKey,
        entries: &'a [SessionStoreEntry],
    ) -> SessionStoreFuture<'a, ()>;

    /// All entries of a transcript in order; `None` if there never were any.
    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> SessionStoreFuture<'a, Option<Vec<SessionStoreEntry>>>;

    /// Which of the optional methods this store has; none unless it says so.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// The sessions of a project in any order, without sub-agents.
    fn list_sessions<'a>(
        &'a self,
        project_key: &'a str,
    ) -> SessionStoreFuture<'a, Vec<SessionListing>> {
        let _ = project_key;
        unsupported("list sessions")
    }

    /// The summaries of a project's sessions, kept with
    /// [`fold_session_summary`](super::fold_session_summary) in `append`.
    fn list_session_summaries<'a>(
        &'a self,
        project_key: &'a str,
    ) -> SessionStoreFuture<'a, Vec<SummaryEntry>> {
        let _ = project_key;
        unsupported("list session summaries")
    }

    /// Removes a transcript; the main one takes those of its sub-agents along.
    fn delete<'a>(&'a self, key: &'a SessionKey) -> SessionStoreFuture<'a, ()> {
        let _ = key;
        unsupported("delete sessions")
    }

    /// The subpaths below a session's main transcript.
    fn list_subkeys<'a>(&'a self, key: &'a SessionKey) -> SessionStoreFuture<'a, Vec<String>> {
        let _ = key;
        unsupported("list sub-agents")
    }
}

fn unsupported<'a, T>(method: &'static str) -> SessionStoreFuture<'a, T> {
    Box::pin(async move { Err(SessionStoreError::Unsupported { method }) })
}

/// Which optional things a store can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// It has [`SessionStore::list_sessions`].
    pub list_sessions: bool,
    /// It has [`SessionStore::list_session_summaries`].
    pub list_session_summaries: bool,
    /// It has [`SessionStore::delete`].
    pub delete: bool,
    /// It has [`SessionStore::list_subkeys`].
    pub list_subkeys: bool,
    /// It takes an entry with a `uuid` it already has once only.
    pub idempotent: bool,
}

impl Capabilities {
    /// Everything.
    pub fn all() -> Self {
        Self {
            list_sessions: true,
            list_session_summaries: true,
            delete: true,
            list_subkeys: true,
            idempotent: true,
        }
    }
}

/// A session in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionListing {
    /// The session.
    pub session_id: SessionId,
    /// When the store last wrote it, by the store's clock.
    pub modified: Timestamp,
}

impl SessionListing {
    /// A session that was last written at `modified`.
    pub fn new(session_id: SessionId, modified: Timestamp) -> Self {
        Self {
            session_id,
            modified,
        }
    }
}
