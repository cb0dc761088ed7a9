//! The functions on sessions, for sessions that are in a store.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer_protocol::SessionId;
use futures_util::StreamExt;
use futures_util::stream;
use jiff::Timestamp;

use super::contract::{SessionListing, SessionStore};
use super::entry::SessionStoreEntry;
use super::key::SessionKey;
use super::stored_lines::StoredLines;
use crate::error::SessionError;
use crate::id::{check_session_id, new_uuid};
use crate::project_key::project_key;
use crate::session_entry::SessionEntry;
use crate::sessions::{
    Ends, Fork, ForkOptions, ListOptions, Messages, Parents, SessionInfo, SystemMessages,
    first_prompt, info_from_ends, no_tag_entry, parents_in, tag_entry, title, title_entry,
};
use crate::store_error::SessionStoreError;
use crate::time::{now, parse_time};

/// Number of transcripts that are loaded at the same time for a list.
const LOADS_AT_ONCE: usize = 16;

/// The sessions of one project in a store: what
/// [`Sessions`](crate::sessions::Sessions) is for files.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use std::sync::Arc;
/// use falconer::sessions::ListOptions;
/// use falconer::mirror::{InMemorySessionStore, StoredSessions};
///
/// let sessions = StoredSessions::of_directory(Arc::new(InMemorySessionStore::new()), "/srv/app");
/// assert!(sessions.list(&ListOptions::new()).await?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct StoredSessions {
    store: Arc<dyn SessionStore>,
    project_key: String,
    project_path: Option<PathBuf>,
}

impl fmt::Debug for StoredSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredSessions")
            .field("project_key", &self.project_key)
            .finish_non_exhaustive()
    }
}

impl StoredSessions {
    /// The sessions stored under a project key of the caller's.
    pub fn new(store: Arc<dyn SessionStore>, project_key: impl Into<String>) -> Self {
        Self {
            store,
            project_key: project_key.into(),
            project_path: None,
        }
    }

    /// The sessions stored for a working directory.
    pub fn of_directory(store: Arc<dyn SessionStore>, directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref();
        Self {
            store,
            project_key: project_key(directory),
            project_path: Some(directory.to_path_buf()),
        }
    }

    /// The key of a session's main transcript.
    pub fn key(&self, id: &SessionId) -> SessionKey {
        SessionKey::new(&self.project_key, id.clone())
    }

    /// The sessions, newest first. Whether programs ran them and worktrees do not matter
    /// here.
    ///
    /// A store with summaries answers without loading a transcript, except those whose
    /// summary is missing or older than the transcript. A transcript that cannot be loaded
    /// is listed with an empty summary.
    pub async fn list(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, SessionError> {
        let can = self.store.capabilities();
        if !can.list_session_summaries {
            let listing = self.store.list_sessions(&self.project_key).await?;
            let mut infos = self.infos(&listing).await;
            infos.sort_by_key(|info| std::cmp::Reverse(info.last_modified));
            return Ok(options.page(infos));
        }
        let mut slots = self.slots().await?;
        slots.sort_by_key(|slot| std::cmp::Reverse(slot.modified()));
        let page = options.page(slots);
        Ok(self.filled(page).await)
    }

    /// The session that would be continued: the newest.
    pub async fn newest(&self) -> Result<Option<SessionInfo>, SessionError> {
        let all = self.list(&ListOptions::new()).await?;
        Ok(all.into_iter().next())
    }

    /// Returns the facts about one session; `None` if it is a sub-agent's or has nothing to show.
    pub async fn info(&self, id: &SessionId) -> Result<Option<SessionInfo>, SessionError> {
        let entries = self.load(&self.checked_key(id)?).await?;
        let modified = entries.last().and_then(SessionStoreEntry::timestamp);
        let modified = modified.as_deref().and_then(parse_time);
        let modified = modified.unwrap_or_else(Timestamp::now);
        Ok(self.info_of(id, &entries, modified))
    }

    /// The messages of a session, in the order of the conversation.
    pub async fn messages(
        &self,
        id: &SessionId,
        system: SystemMessages,
    ) -> Result<Messages, SessionError> {
        let entries = self.load(&self.checked_key(id)?).await?;
        Messages::of_session(Box::new(StoredLines(entries)), system)
    }

    /// The ids of a session's sub-agents; the store must be able to list them.
    pub async fn subagents(&self, id: &SessionId) -> Result<Vec<String>, SessionError> {
        let subkeys = self.store.list_subkeys(&self.checked_key(id)?).await?;
        let mut seen = HashSet::new();
        let ids = subkeys.iter().filter_map(|subkey| agent_id(subkey));
        Ok(ids
            .filter(|id| seen.insert(*id))
            .map(str::to_owned)
            .collect())
    }

    /// The messages of one sub-agent.
    pub async fn subagent_messages(
        &self,
        id: &SessionId,
        agent: &str,
    ) -> Result<Messages, SessionError> {
        let missing = || SessionError::AgentNotFound {
            session: id.to_string(),
            agent: agent.to_owned(),
        };
        let key = self.checked_key(id)?;
        let mut subpath = format!("subagents/agent-{agent}");
        if self.store.capabilities().list_subkeys {
            let subkeys = self.store.list_subkeys(&key).await?;
            let mut found = subkeys.into_iter();
            let found = found.find(|subkey| agent_id(subkey) == Some(agent));
            subpath = found.ok_or_else(missing)?;
        }
        let loaded = self.store.load(&key.with_subpath(subpath)).await?;
        let (metadata, entries) = split_metadata(loaded.ok_or_else(missing)?);
        let parents = metadata.and_then(|entry| parents_in(entry.as_json().as_bytes()));
        Messages::of_subagent(
            Box::new(StoredLines(entries)),
            parents.unwrap_or_else(Parents::default),
        )
    }

    /// Copies a session under a new id with a single `append`.
    pub async fn fork(
        &self,
        id: &SessionId,
        options: &ForkOptions,
    ) -> Result<SessionId, SessionError> {
        let entries = self.load(&self.checked_key(id)?).await?;
        let ends = Ends::of_lines(
            entries.iter().map(SessionStoreEntry::as_json),
            Timestamp::now(),
        );
        let source_title = title(&ends).or_else(|| first_prompt(ends.head()));
        let mut lines = StoredLines(entries);
        let fork = Fork::plan(&mut lines, id, options.up_to.as_deref())?;
        let mut copy = Vec::new();
        let copy_title = options.title_from(source_title.as_deref());
        fork.write(&mut lines, &copy_title, &mut |line| {
            copy.push(SessionStoreEntry::from_json(line)?);
            Ok(())
        })?;
        self.store.append(&self.key(&fork.id), &copy).await?;
        Ok(fork.id)
    }

    /// Gives a session a title.
    pub async fn rename(&self, id: &SessionId, title: &str) -> Result<(), SessionError> {
        self.append(id, title_entry(id, title)?).await
    }

    /// Tags a session; it has one tag at a time.
    pub async fn tag(&self, id: &SessionId, tag: &str) -> Result<(), SessionError> {
        self.append(id, tag_entry(id, tag)?).await
    }

    /// Takes the tag off a session.
    pub async fn clear_tag(&self, id: &SessionId) -> Result<(), SessionError> {
        self.append(id, no_tag_entry(id)).await
    }

    /// Removes a session and its sub-agents; fails if the store cannot delete.
    pub async fn delete(&self, id: &SessionId) -> Result<(), SessionError> {
        Ok(self.store.delete(&self.checked_key(id)?).await?)
    }

    /// Appends an entry about a session; stores recognise entries by their id.
    async fn append(&self, id: &SessionId, entry: SessionEntry<'_>) -> Result<(), SessionError> {
        let entry = entry.marked(new_uuid(), now());
        let entry = SessionStoreEntry::from_json(entry.to_line())?;
        let key = self.checked_key(id)?;
        Ok(self.store.append(&key, &[entry]).await?)
    }

    /// Returns the key of a session whose id is safe as a file name: stores may make one of it.
    fn checked_key(&self, id: &SessionId) -> Result<SessionKey, SessionError> {
        check_session_id(id)?;
        Ok(self.key(id))
    }

    async fn load(&self, key: &SessionKey) -> Result<Vec<SessionStoreEntry>, SessionError> {
        let loaded = self.store.load(key).await?.unwrap_or_default();
        if loaded.is_empty() {
            return Err(SessionError::NotFound {
                id: key.session_id.to_string(),
                searched: vec![PathBuf::from(format!("session store: {key}"))],
            });
        }
        Ok(loaded)
    }

    fn info_of(
        &self,
        id: &SessionId,
        entries: &[SessionStoreEntry],
        modified: Timestamp,
    ) -> Option<SessionInfo> {
        let ends = Ends::of_lines(entries.iter().map(SessionStoreEntry::as_json), modified);
        info_from_ends(id.clone(), &ends, self.project_path.as_deref())
    }

    /// The infos of listed sessions, by loading them.
    async fn infos(&self, listing: &[SessionListing]) -> Vec<SessionInfo> {
        let loads = stream::iter(listing.iter().cloned()).map(|listed| async move {
            let key = self.key(&listed.session_id);
            let loaded = self.store.load(&key).await;
            self.listed_info(&listed, loaded)
        });
        loads
            .buffered(LOADS_AT_ONCE)
            .filter_map(|info| async { info })
            .collect()
            .await
    }

    fn listed_info(
        &self,
        listed: &SessionListing,
        loaded: Result<Option<Vec<SessionStoreEntry>>, SessionStoreError>,
    ) -> Option<SessionInfo> {
        match loaded {
            Ok(entries) => self.info_of(&listed.session_id, &entries?, listed.modified),
            Err(error) => {
                tracing::warn!(session = %listed.session_id, %error, "cannot load a listed session");
                Some(SessionInfo::unreadable(
                    listed.session_id.clone(),
                    listed.modified,
                ))
            }
        }
    }

    /// One slot per session: known from a fresh summary, or still to be loaded.
    async fn slots(&self) -> Result<Vec<Slot>, SessionError> {
        let summaries = self.store.list_session_summaries(&self.project_key).await?;
        let project_path = self.project_path.as_deref();
        if !self.store.capabilities().list_sessions {
            let infos = summaries
                .iter()
                .filter_map(|summary| summary.info(project_path));
            return Ok(infos.map(Slot::known).collect());
        }
        let listing = self.store.list_sessions(&self.project_key).await?;
        let written: HashMap<&SessionId, Timestamp> = listing
            .iter()
            .map(|listed| (&listed.session_id, listed.modified))
            .collect();
        let mut fresh = HashSet::new();
        let mut slots = Vec::new();
        for summary in &summaries {
            let written = written.get(&summary.session_id);
            if written.is_some_and(|written| summary.modified() >= *written) {
                fresh.insert(&summary.session_id);
                slots.extend(summary.info(project_path).map(Slot::known));
            }
        }
        let stale = listing
            .iter()
            .filter(|listed| !fresh.contains(&listed.session_id));
        slots.extend(stale.cloned().map(Slot::Unknown));
        Ok(slots)
    }

    /// Loads what is not known of a page.
    async fn filled(&self, page: Vec<Slot>) -> Vec<SessionInfo> {
        let missing: Vec<SessionListing> = page.iter().filter_map(Slot::unknown).collect();
        let loaded = self.infos(&missing).await.into_iter();
        let mut loaded: HashMap<SessionId, SessionInfo> =
            loaded.map(|info| (info.session_id.clone(), info)).collect();
        page.into_iter()
            .filter_map(|slot| match slot {
                Slot::Known(info) => Some(*info),
                Slot::Unknown(listed) => loaded.remove(&listed.session_id),
            })
            .collect()
    }
}

/// A place in a list that may still have to be loaded.
enum Slot {
    Known(Box<SessionInfo>),
    Unknown(SessionListing),
}

impl Slot {
    fn known(info: SessionInfo) -> Self {
        Self::Known(Box::new(info))
    }

    fn modified(&self) -> Timestamp {
        match self {
            Self::Known(info) => info.last_modified,
            Self::Unknown(listed) => listed.modified,
        }
    }

    fn unknown(&self) -> Option<SessionListing> {
        match self {
            Self::Known(_) => None,
            Self::Unknown(listed) => Some(listed.clone()),
        }
    }
}

/// The sub-agent of a subpath such as `subagents/workflows/r/agent-1`.
fn agent_id(subpath: &str) -> Option<&str> {
    let below = subpath.strip_prefix("subagents/")?;
    below.rsplit('/').next()?.strip_prefix("agent-")
}

/// Separates the entry that stands for a sub-agent's metadata file; the last one counts.
pub(crate) fn split_metadata(
    entries: Vec<SessionStoreEntry>,
) -> (Option<SessionStoreEntry>, Vec<SessionStoreEntry>) {
    let is_metadata = |entry: &SessionStoreEntry| entry.kind().as_deref() == Some("agent_metadata");
    let (mut metadata, transcript): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_metadata);
    (metadata.pop(), transcript)
}
