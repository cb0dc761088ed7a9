//! Versions already learned, by file: a file that was replaced is asked again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use super::CliVersion;

/// A file as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    path: PathBuf,
    modified: Option<SystemTime>,
    size: u64,
}

impl Key {
    /// Looks at the file, links followed.
    pub(super) fn of(path: &Path) -> std::io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        Ok(Self {
            path: std::fs::canonicalize(path)?,
            modified: metadata.modified().ok(),
            size: metadata.len(),
        })
    }
}

static KNOWN: LazyLock<Mutex<HashMap<Key, CliVersion>>> = LazyLock::new(Mutex::default);

/// The version of this very file, if it was asked before.
pub(super) fn get(key: &Key) -> Option<CliVersion> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(key).cloned()
}

/// Remembers the version; what was known of an older file at the same path is dropped.
pub(super) fn put(key: Key, version: CliVersion) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|other, _| other.path != key.path);
    known.insert(key, version);
}
