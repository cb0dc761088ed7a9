//! Copying a session from disk into a store.

use std::path::{Path, PathBuf};

use falconer_protocol::SessionId;
use tokio::sync::mpsc;

use super::contract::SessionStore;
use super::entry::SessionStoreEntry;
use super::key::SessionKey;
use crate::error::SessionError;
use crate::lines::Lines;
use crate::sessions::{Sessions, metadata_path, transcripts};

/// Limits on one call of the store, in entries and in bytes.
const BATCH_ENTRIES: usize = 500;
const BATCH_BYTES: usize = 1 << 20;

/// The amount that an import copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Transcripts: the main one and those of sub-agents.
    pub transcripts: u64,
    /// Entries of all of them.
    pub entries: u64,
    /// Lines that are no entry and were left out.
    pub skipped_lines: u64,
}

/// Copies a session and its sub-agents into a store, under the name of its project directory.
///
/// The transcript is read line by line. Done again, it adds nothing if the store recognises
/// entries by their `uuid`; entries without one are added again.
pub async fn import_session_to_store(
    sessions: &Sessions,
    id: &SessionId,
    store: &dyn SessionStore,
) -> Result<Imported, SessionError> {
    let located = sessions.locate(id)?;
    let project = located.project.directory.file_name().unwrap_or_default();
    let key = SessionKey::new(project.to_string_lossy(), id.clone());
    let mut imported = Imported::default();
    copy(sessions, &located.file, &key, store, &mut imported).await?;
    let session_dir = located.session_dir();
    for file in transcripts(&session_dir) {
        let Some(subpath) = subpath(&file, &session_dir) else {
            continue;
        };
        let key = key.with_subpath(subpath);
        copy(sessions, &file, &key, store, &mut imported).await?;
        if let Some(entry) = metadata_entry(&file) {
            store.append(&key, &[entry]).await?;
        }
    }
    Ok(imported)
}

fn subpath(file: &Path, session_dir: &Path) -> Option<String> {
    let below = file.strip_prefix(session_dir).ok()?.with_extension("");
    let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

/// The metadata file beside a sub-agent's transcript, as the entry a live mirror sends.
fn metadata_entry(transcript: &Path) -> Option<SessionStoreEntry> {
    let text = std::fs::read(metadata_path(transcript)).ok()?;
    let mut value: serde_json::Value = serde_json::from_slice(&text).ok()?;
    value
        .as_object_mut()?
        .insert("type".to_owned(), "agent_metadata".into());
    SessionStoreEntry::try_from(value).ok()
}

/// Copies one transcript; a thread reads while the store writes, a few batches apart.
async fn copy(
    sessions: &Sessions,
    file: &Path,
    key: &SessionKey,
    store: &dyn SessionStore,
    imported: &mut Imported,
) -> Result<(), SessionError> {
    let (batches, mut ready) = mpsc::channel(2);
    let (sessions, file): (Sessions, PathBuf) = (sessions.clone(), file.to_path_buf());
    let path = file.clone();
    let reader = tokio::task::spawn_blocking(move || read_batches(&sessions, &file, &batches));
    while let Some(batch) = ready.recv().await {
        store.append(key, &batch).await?;
        imported.entries += batch.len() as u64;
    }
    let skipped = reader
        .await
        .map_err(|error| SessionError::io("read", &path)(std::io::Error::other(error)))??;
    imported.skipped_lines += skipped;
    imported.transcripts += 1;
    Ok(())
}

/// Sends the entries of a transcript in batches; returns how many lines were none.
fn read_batches(
    sessions: &Sessions,
    file: &Path,
    batches: &mpsc::Sender<Vec<SessionStoreEntry>>,
) -> Result<u64, SessionError> {
    let mut lines = sessions.lines(file)?;
    let (mut batch, mut bytes, mut skipped) = (Vec::new(), 0, 0);
    let too_long = lines.scan(&mut |_, line| {
        let text = String::from_utf8_lossy(line).into_owned();
        match SessionStoreEntry::from_json(text) {
            Ok(entry) => batch.push(entry),
            Err(_) => skipped += 1,
        }
        bytes += line.len();
        if batch.len() >= BATCH_ENTRIES || bytes >= BATCH_BYTES {
            bytes = 0;
            // If nobody receives any more, the import has failed and says why itself.
            let _ = batches.blocking_send(std::mem::take(&mut batch));
        }
    })?;
    if !batch.is_empty() {
        let _ = batches.blocking_send(batch);
    }
    Ok(skipped + too_long)
}
