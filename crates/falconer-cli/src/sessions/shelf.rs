//! Where sessions are: files of the engines, and the store of the server. Nothing else in this
//! command knows that. A session that is in both is one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use falconer::sessions::{
    ForkOptions, ListOptions, SessionId, SessionInfo, Sessions, SystemMessages, check_session_id,
};
use falconer_session::SessionLocks;
use falconer_store::SessionRecord;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::conversation::{self, Part};
use super::kept::Kept;
use crate::exit::{Exit, Fault, say};
use crate::ids;
use crate::places;

/// Sessions that can be listed, read and changed.
#[derive(Debug)]
pub(super) struct Shelf {
    sessions: Sessions,
    /// Only in this directory.
    directory: Option<PathBuf>,
    kept: Option<Kept>,
}

/// A session, wherever it is: in a file, in the store, or both.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    file: Option<SessionInfo>,
    record: Option<Box<SessionRecord>>,
    pub(super) title: String,
}

impl Entry {
    /// The id to go on with: that of the engine's file if there is one.
    pub(super) fn id(&self) -> &str {
        match (&self.file, &self.record) {
            (Some(file), _) => file.session_id.as_str(),
            (None, Some(record)) => record.id.as_str(),
            (None, None) => "",
        }
    }

    /// Whether an engine keeps it in a file here.
    pub(super) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// The session in the store, and what it is doing.
    pub(super) fn record(&self) -> Option<&SessionRecord> {
        self.record.as_deref()
    }

    pub(super) fn changed(&self) -> Timestamp {
        let kept = self.record().map(|record| record.updated_at.as_micros());
        let kept = kept.and_then(|micros| Timestamp::from_microsecond(micros).ok());
        let file = self.file.as_ref().map(|file| file.last_modified);
        kept.max(file).unwrap_or_default()
    }

    pub(super) fn directory(&self) -> Option<PathBuf> {
        let file = self.file.as_ref().and_then(|file| file.cwd.clone());
        file.or_else(|| Some(PathBuf::from(&self.record()?.cwd)))
    }

    fn is_archived(&self) -> bool {
        self.record().is_some_and(|record| record.archived)
    }

    /// Whether an id, or the beginning of one, means this session.
    fn is_meant(&self, beginning: &str) -> bool {
        let kept = self.record().map(|record| record.id.as_str());
        self.id().starts_with(beginning) || kept.is_some_and(|id| id.starts_with(beginning))
    }

    fn is_called(&self, id: &str) -> bool {
        self.id() == id || self.record().is_some_and(|record| record.id.as_str() == id)
    }

    /// For programs: as the official SDK tells sessions, and what the server knows.
    pub(super) fn json(&self) -> Value {
        let mut value = match &self.file {
            Some(file) => json!(file),
            None => json!({"sessionId": self.id(), "cwd": self.directory(),
                "lastModified": self.changed().as_millisecond()}),
        };
        value["summary"] = json!(self.title);
        if let Some(record) = self.record() {
            value["server"] = json!({"session": record.id, "state": record.state,
                "engine": record.engine, "model": record.model, "pending": record.pending,
                "costUsd": record.cost_usd});
        }
        value
    }
}

impl Shelf {
    /// List sessions in all directories, and of the store in this file.
    pub(super) async fn all(store: Option<&Path>) -> Result<Self, Fault> {
        Self::open(None, store).await
    }

    /// Those of one directory.
    pub(super) async fn of_directory(
        directory: PathBuf,
        store: Option<&Path>,
    ) -> Result<Self, Fault> {
        Self::open(Some(directory), store).await
    }

    async fn open(directory: Option<PathBuf>, store: Option<&Path>) -> Result<Self, Fault> {
        let sessions = Sessions::from_env()?;
        let sessions = match &directory {
            Some(directory) => sessions.of_directory(directory),
            None => sessions,
        };
        let kept = match store {
            // Whoever names a store wants to hear that it cannot be read.
            Some(path) if !path.exists() => {
                let text = format!("no store at {}", path.display());
                return Err(Fault::setup(
                    text,
                    "name the file given to `falconer serve --store`",
                ));
            }
            Some(path) => Kept::open(path.to_owned()).await?,
            None => Kept::open(places::store_file()?)
                .await
                .unwrap_or_else(|fault| {
                    say("warning:", &fault.text);
                    say("hint:", &fault.hint);
                    None
                }),
        };
        let directory = directory.map(real);
        Ok(Self {
            sessions,
            directory,
            kept,
        })
    }

    /// The newest first, without those that were put into the archive.
    pub(super) async fn list(&self, limit: usize) -> Result<Vec<Entry>, Fault> {
        let mut entries = self.entries(limit).await?;
        entries.retain(|entry| !entry.is_archived());
        entries.truncate(limit);
        Ok(entries)
    }

    /// All there are, joined.
    async fn entries(&self, limit: usize) -> Result<Vec<Entry>, Fault> {
        let options = match limit {
            usize::MAX => ListOptions::new(),
            limit => ListOptions::new().limit(limit),
        };
        let files = self.sessions.list(&options);
        let mut files: HashMap<String, SessionInfo> = files
            .into_iter()
            .map(|file| (file.session_id.as_str().to_owned(), file))
            .collect();
        let mut entries = Vec::new();
        for record in self.records().await? {
            let native = record.native_session.as_deref().unwrap_or_default();
            let file = files.remove(native).or_else(|| self.file(native));
            entries.push(self.entry(file, Some(record)).await);
        }
        for file in files.into_values() {
            entries.push(self.entry(Some(file), None).await);
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.changed()));
        Ok(entries)
    }

    async fn records(&self) -> Result<Vec<SessionRecord>, Fault> {
        let Some(kept) = &self.kept else {
            return Ok(Vec::new());
        };
        let mut records = kept.all().await?;
        if let Some(directory) = &self.directory {
            records.retain(|record| real(PathBuf::from(&record.cwd)) == *directory);
        }
        Ok(records)
    }

    fn file(&self, id: &str) -> Option<SessionInfo> {
        self.sessions.info(&SessionId::new(id)).ok().flatten()
    }

    async fn entry(&self, file: Option<SessionInfo>, record: Option<SessionRecord>) -> Entry {
        let given = record.as_ref().and_then(|record| record.title.clone());
        let title = match (given, &file, &record, &self.kept) {
            (Some(title), ..) => title,
            (None, Some(file), ..) => file.summary.clone(),
            (None, None, Some(record), Some(kept)) => kept.title(record).await,
            (None, None, _, _) => String::new(),
        };
        Entry {
            file,
            record: record.map(Box::new),
            title,
        }
    }

    /// The one session whose id, here or in the store, begins like this.
    pub(super) async fn find(&self, beginning: &str) -> Result<Entry, Fault> {
        // What could be no id is told as such.
        check_session_id(&SessionId::new(beginning)).map_err(|error| {
            Fault::usage(error, "`falconer sessions list --all` lists all sessions")
        })?;
        let mut matching = self.entries(usize::MAX).await?;
        matching.retain(|entry| entry.is_meant(beginning));
        if let Some(exact) = matching.iter().position(|entry| entry.is_called(beginning)) {
            return Ok(matching.swap_remove(exact));
        }
        match matching.as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(Fault::new(
                Exit::Session,
                format!("no session matches `{beginning}`"),
                "`falconer sessions list --all` lists all sessions",
            )),
            several => {
                let several: Vec<_> = several.iter().map(Entry::id).collect();
                Err(ids::ambiguous(beginning, &several))
            }
        }
    }

    /// What was said and done. The engine's file has all of it, events have the beginnings of
    /// long outputs.
    pub(super) async fn parts(&self, entry: &Entry) -> Result<Vec<Part>, Fault> {
        let mut parts = Vec::new();
        match (&entry.file, entry.record(), &self.kept) {
            (Some(file), ..) => {
                let id = &file.session_id;
                for message in self.sessions.messages(id, SystemMessages::Exclude)? {
                    conversation::read(&message?, &mut parts);
                }
            }
            (None, Some(record), Some(kept)) => parts = kept.parts(&record.id).await?,
            (None, _, _) => {}
        }
        Ok(parts)
    }

    /// The messages, or the events, as they are, one per line.
    pub(super) async fn raw(&self, entry: &Entry) -> Result<String, Fault> {
        let mut text = String::new();
        match (&entry.file, entry.record(), &self.kept) {
            (Some(file), ..) => {
                let id = &file.session_id;
                for message in self.sessions.messages(id, SystemMessages::Include)? {
                    text += &serde_json::to_string(&message?).map_err(std::io::Error::other)?;
                    text.push('\n');
                }
            }
            (None, Some(record), Some(kept)) => text = kept.raw(&record.id).await?,
            (None, _, _) => {}
        }
        Ok(text)
    }

    /// A copy where the original is: what goes on with it.
    pub(super) async fn fork(
        &self,
        entry: &Entry,
        title: Option<String>,
        up_to: Option<String>,
    ) -> Result<Copy, Fault> {
        let Some(file) = &entry.file else {
            return self.fork_kept(entry, title, up_to).await;
        };
        let mut options = ForkOptions::new();
        if let Some(title) = title {
            options = options.title(title);
        }
        if let Some(message) = up_to {
            options = options.up_to(message);
        }
        let copy = self.sessions.fork(&file.session_id, &options)?;
        Ok(Copy::File(copy.as_str().to_owned()))
    }

    async fn fork_kept(
        &self,
        entry: &Entry,
        title: Option<String>,
        up_to: Option<String>,
    ) -> Result<Copy, Fault> {
        if up_to.is_some() {
            return Err(Fault::usage(
                "a session on the server is forked as a whole",
                "omit `--up-to`",
            ));
        }
        match (entry.record(), &self.kept) {
            (Some(record), Some(kept)) => {
                let copy = kept.fork(&record.id, title).await?;
                Ok(Copy::Kept(copy.as_str().to_owned()))
            }
            _ => Err(gone(entry)),
        }
    }

    /// Not while somebody works on it.
    pub(super) async fn rename(&self, entry: &Entry, title: &str) -> Result<(), Fault> {
        if let (Some(record), Some(kept)) = (entry.record(), &self.kept) {
            kept.rename(record, title).await?;
        }
        match &entry.file {
            Some(file) => Ok(self.sessions.rename(&file.session_id, title)?),
            None => Ok(()),
        }
    }

    /// Not while somebody works on it.
    pub(super) async fn delete(&self, entry: &Entry) -> Result<(), Fault> {
        let record = entry.record().zip(self.kept.as_ref());
        if let Some((record, kept)) = record {
            kept.check_free(record).await?;
        }
        let locks = SessionLocks::new(places::locks_directory()?);
        let native = entry.file.as_ref().map(|file| file.session_id.as_str());
        let lock = native.map(|id| locks.try_lock(id)).transpose();
        let _lock = lock.map_err(falconer_session::Error::from)?;
        if let Some((record, kept)) = record {
            kept.delete(&record.id).await?;
        }
        match &entry.file {
            Some(file) => Ok(self.sessions.delete(&file.session_id)?),
            None => Ok(()),
        }
    }

    /// Lets go of the store.
    pub(super) async fn close(self) {
        if let Some(kept) = &self.kept {
            kept.close().await;
        }
    }
}

/// A copy of a session, by its id.
#[derive(Debug)]
pub(super) enum Copy {
    File(String),
    Kept(String),
}

/// A path without links, to compare; one that is gone stays as it is.
fn real(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}

fn gone(entry: &Entry) -> Fault {
    Fault::new(
        Exit::Session,
        format!("session {} no longer exists", entry.id()),
        "`falconer sessions list --all` lists all sessions",
    )
}
