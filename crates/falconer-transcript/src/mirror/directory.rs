//! A store in a directory: one file of JSON lines for each transcript, laid out as the CLI does it.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer_protocol::SessionId;
use jiff::Timestamp;

use super::contract::{Capabilities, SessionListing, SessionStore, SessionStoreFuture};
use super::entry::SessionStoreEntry;
use super::key::SessionKey;
use crate::append::append;
use crate::id::check_session_id;
use crate::private_file::create_private_dir;
use crate::store_error::SessionStoreError;

/// How deep sub-agents' transcripts are looked for below their session.
const DEPTH: usize = 8;

/// A session store in a directory that only its owner can read.
///
/// What is appended is on the disk before `append` is done. A line that a crash cut is left out
/// when the transcript is read, and an entry that came twice is read once.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use falconer::sessions::SessionId;
/// use falconer::mirror::{DirectorySessionStore, SessionKey, SessionStore, SessionStoreEntry};
///
/// let place = tempfile::tempdir()?;
/// let store = DirectorySessionStore::new(place.path().join("conversations"));
/// let key = SessionKey::new("-srv-site", SessionId::new("s1"));
/// store.append(&key, &[SessionStoreEntry::from_json(r#"{"type":"user","uuid":"u1"}"#)?]).await?;
/// assert_eq!(store.load(&key).await?.map(|entries| entries.len()), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct DirectorySessionStore {
    root: Arc<Path>,
}

impl DirectorySessionStore {
    /// A store in this directory, which is made when there is something to keep.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into().into(),
        }
    }

    fn project(&self, project_key: &str) -> PathBuf {
        self.root.join(project_key)
    }

    /// The file of a transcript, if its key stays inside the store.
    fn file(&self, key: &SessionKey) -> Result<PathBuf, SessionStoreError> {
        key.check_paths().map_err(SessionStoreError::failed)?;
        let name = match &key.subpath {
            Some(subpath) => format!("{}/{subpath}.jsonl", key.session_id),
            None => format!("{}.jsonl", key.session_id),
        };
        Ok(self.project(&key.project_key).join(name))
    }

    fn append_now(
        &self,
        key: &SessionKey,
        entries: &[SessionStoreEntry],
    ) -> Result<(), SessionStoreError> {
        let path = self.file(key)?;
        if let Some(parent) = path.parent() {
            create_private_dir(parent)?;
        }
        let mut options = OpenOptions::new();
        options.create(true).read(true).append(true).mode(0o600);
        let file = options.open(&path)?;
        let lines: Vec<&str> = entries.iter().map(SessionStoreEntry::as_json).collect();
        append(&file, &lines.join("\n"))?;
        Ok(file.sync_data()?)
    }

    fn load_now(
        &self,
        key: &SessionKey,
    ) -> Result<Option<Vec<SessionStoreEntry>>, SessionStoreError> {
        let path = self.file(key)?;
        match File::open(&path) {
            Ok(file) => Ok(Some(read(file, &path)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn list_now(&self, project_key: &str) -> Result<Vec<SessionListing>, SessionStoreError> {
        let mut found = Vec::new();
        for entry in entries_of(&self.project(project_key))? {
            let path = entry.path();
            let is_transcript = path.extension().is_some_and(|end| end == "jsonl");
            let name = path.file_stem().and_then(|name| name.to_str());
            let (true, Some(name)) = (is_transcript, name) else {
                continue;
            };
            let id = SessionId::new(name);
            if check_session_id(&id).is_err() {
                continue;
            }
            let written = entry.metadata()?.modified()?;
            let written = Timestamp::try_from(written).unwrap_or_default();
            found.push(SessionListing::new(id, written));
        }
        Ok(found)
    }

    fn delete_now(&self, key: &SessionKey) -> Result<(), SessionStoreError> {
        let path = self.file(key)?;
        gone(fs::remove_file(&path))?;
        match key.subpath {
            Some(_) => Ok(()),
            None => Ok(gone(fs::remove_dir_all(path.with_extension("")))?),
        }
    }

    fn subkeys_now(&self, key: &SessionKey) -> Result<Vec<String>, SessionStoreError> {
        let below = self.file(&key.main())?.with_extension("");
        let mut found = Vec::new();
        collect(&below, "", DEPTH, &mut found)?;
        Ok(found)
    }

    /// Files are read and written off the async threads.
    fn off<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, SessionStoreError> + Send + 'static,
    ) -> SessionStoreFuture<'static, T> {
        let store = self.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || work(&store)).await;
            done.unwrap_or_else(|error| Err(SessionStoreError::failed(error)))
        })
    }
}

impl SessionStore for DirectorySessionStore {
    fn append<'a>(
        &'a self,
        key: &'a SessionKey,
        entries: &'a [SessionStoreEntry],
    ) -> SessionStoreFuture<'a, ()> {
        if entries.is_empty() {
            return Box::pin(async { Ok(()) });
        }
        let (key, entries) = (key.clone(), entries.to_vec());
        self.off(move |store| store.append_now(&key, &entries))
    }

    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> SessionStoreFuture<'a, Option<Vec<SessionStoreEntry>>> {
        let key = key.clone();
        self.off(move |store| store.load_now(&key))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            list_session_summaries: false,
            ..Capabilities::all()
        }
    }

    fn list_sessions<'a>(
        &'a self,
        project_key: &'a str,
    ) -> SessionStoreFuture<'a, Vec<SessionListing>> {
        let project_key = project_key.to_owned();
        self.off(move |store| store.list_now(&project_key))
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> SessionStoreFuture<'a, ()> {
        let key = key.clone();
        self.off(move |store| store.delete_now(&key))
    }

    fn list_subkeys<'a>(&'a self, key: &'a SessionKey) -> SessionStoreFuture<'a, Vec<String>> {
        let key = key.clone();
        self.off(move |store| store.subkeys_now(&key))
    }
}

fn read(file: File, path: &Path) -> Result<Vec<SessionStoreEntry>, SessionStoreError> {
    let mut known = HashSet::new();
    let mut entries = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line?;
        if line.is_empty() {
            continue;
        }
        let entry = String::from_utf8(line).map_err(SessionStoreError::failed);
        match entry.and_then(SessionStoreEntry::from_json) {
            Ok(entry) => {
                if entry.uuid().is_none_or(|uuid| known.insert(uuid)) {
                    entries.push(entry);
                }
            }
            // The process died while it wrote this line.
            Err(error) => tracing::warn!(file = %path.display(), %error, "left out a cut line"),
        }
    }
    Ok(entries)
}

fn entries_of(directory: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn collect(
    directory: &Path,
    prefix: &str,
    depth: usize,
    found: &mut Vec<String>,
) -> io::Result<()> {
    for entry in entries_of(directory)? {
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            continue;
        };
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 {
            collect(&entry.path(), &format!("{prefix}{name}/"), depth - 1, found)?;
        } else if let (true, Some(name)) = (kind.is_file(), name.strip_suffix(".jsonl")) {
            found.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

/// What is not there need not be removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::mirror::conformance;

    #[tokio::test]
    async fn it_keeps_the_contract_of_session_stores() {
        let place = tempfile::tempdir().unwrap();
        let number = std::sync::atomic::AtomicUsize::new(0);
        let report = conformance::run(|| {
            let next = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let store = DirectorySessionStore::new(place.path().join(next.to_string()));
            async { Box::new(store) as _ }
        })
        .await
        .unwrap();
        assert!(report.passed.len() >= 10, "{report:?}");
    }

    #[tokio::test]
    async fn a_line_that_was_cut_costs_only_itself() {
        let place = tempfile::tempdir().unwrap();
        let store = DirectorySessionStore::new(place.path());
        let key = SessionKey::new("p", SessionId::new("s"));
        let entry =
            |id: &str| SessionStoreEntry::from_json(format!(r#"{{"uuid":"{id}"}}"#)).unwrap();
        store.append(&key, &[entry("a")]).await.unwrap();
        let file = place.path().join("p/s.jsonl");
        let mut cut = OpenOptions::new().append(true).open(&file).unwrap();
        cut.write_all(br#"{"uuid":"b","#).unwrap();
        store.append(&key, &[entry("c"), entry("a")]).await.unwrap();
        let loaded = store.load(&key).await.unwrap().unwrap();
        assert_eq!(loaded, [entry("a"), entry("c")]);
        let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&file).unwrap());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[tokio::test]
    async fn no_key_leads_out_of_the_store() {
        let place = tempfile::tempdir().unwrap();
        let store = DirectorySessionStore::new(place.path().join("store"));
        let key = SessionKey::new("..", SessionId::new("s"));
        let entry = SessionStoreEntry::from_json("{}").unwrap();
        assert!(
            store
                .append(&key, std::slice::from_ref(&entry))
                .await
                .is_err()
        );
        let key = SessionKey::new("p", SessionId::new("../s"));
        assert!(
            store
                .append(&key, std::slice::from_ref(&entry))
                .await
                .is_err()
        );
        let key = SessionKey::new("p", SessionId::new("s")).with_subpath("../../out");
        assert!(store.append(&key, &[entry]).await.is_err());
        assert!(fs::read_dir(place.path()).unwrap().next().is_none());
    }
}
