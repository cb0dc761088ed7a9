//! A store in memory, for tests and as an example of what the contract asks for.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::contract::{Capabilities, SessionListing, SessionStore, SessionStoreFuture};
use super::entry::SessionStoreEntry;
use super::key::SessionKey;
use super::summary::{SummaryEntry, fold_session_summary};

/// A session store in memory that has all capabilities; gone when it is dropped.
#[derive(Debug, Default)]
pub struct InMemorySessionStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    transcripts: BTreeMap<SessionKey, Stored>,
    last_write: i64,
}

#[derive(Debug, Default)]
struct Stored {
    entries: Vec<SessionStoreEntry>,
    uuids: HashSet<String>,
    modified: i64,
    /// Of main transcripts only.
    summary: Option<SummaryEntry>,
}

impl InMemorySessionStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The keys of all transcripts.
    pub fn keys(&self) -> Vec<SessionKey> {
        self.state().transcripts.keys().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave the maps half changed in a way that matters.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The time of a write; later writes have later times.
    fn next_write(&mut self) -> i64 {
        let now = Timestamp::now().as_millisecond();
        self.last_write = now.max(self.last_write + 1);
        self.last_write
    }

    fn append(&mut self, key: &SessionKey, entries: &[SessionStoreEntry]) {
        let written = self.next_write();
        let stored = self.transcripts.entry(key.clone()).or_default();
        let is_new = |entry: &&SessionStoreEntry| match entry.uuid() {
            Some(uuid) => stored.uuids.insert(uuid),
            None => true,
        };
        let new: Vec<SessionStoreEntry> = entries.iter().filter(is_new).cloned().collect();
        stored.modified = written;
        if key.subpath.is_none() {
            let mut summary = fold_session_summary(stored.summary.as_ref(), key, &new);
            summary.mtime = written;
            stored.summary = Some(summary);
        }
        stored.entries.extend(new);
    }
}

impl SessionStore for InMemorySessionStore {
    fn append<'a>(
        &'a self,
        key: &'a SessionKey,
        entries: &'a [SessionStoreEntry],
    ) -> SessionStoreFuture<'a, ()> {
        if !entries.is_empty() {
            self.state().append(key, entries);
        }
        Box::pin(async { Ok(()) })
    }

    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> SessionStoreFuture<'a, Option<Vec<SessionStoreEntry>>> {
        let found = self
            .state()
            .transcripts
            .get(key)
            .map(|stored| stored.entries.clone());
        Box::pin(async { Ok(found) })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::all()
    }

    fn list_sessions<'a>(
        &'a self,
        project_key: &'a str,
    ) -> SessionStoreFuture<'a, Vec<SessionListing>> {
        let state = self.state();
        let main = state
            .transcripts
            .iter()
            .filter(|(key, _)| key.project_key == project_key && key.subpath.is_none());
        let found = main.map(|(key, stored)| {
            let modified = Timestamp::from_millisecond(stored.modified);
            SessionListing::new(key.session_id.clone(), modified.unwrap_or_default())
        });
        let found = found.collect();
        Box::pin(async { Ok(found) })
    }

    fn list_session_summaries<'a>(
        &'a self,
        project_key: &'a str,
    ) -> SessionStoreFuture<'a, Vec<SummaryEntry>> {
        let state = self.state();
        let of_project = state
            .transcripts
            .iter()
            .filter(|(key, _)| key.project_key == project_key);
        let found = of_project
            .filter_map(|(_, stored)| stored.summary.clone())
            .collect();
        Box::pin(async { Ok(found) })
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> SessionStoreFuture<'a, ()> {
        let mut state = self.state();
        match key.subpath {
            Some(_) => {
                state.transcripts.remove(key);
            }
            None => state.transcripts.retain(|other, _| other.main() != *key),
        }
        Box::pin(async { Ok(()) })
    }

    fn list_subkeys<'a>(&'a self, key: &'a SessionKey) -> SessionStoreFuture<'a, Vec<String>> {
        let state = self.state();
        let of_session = state
            .transcripts
            .keys()
            .filter(|other| other.main() == key.main());
        let found = of_session
            .filter_map(|other| other.subpath.clone())
            .collect();
        Box::pin(async { Ok(found) })
    }
}
