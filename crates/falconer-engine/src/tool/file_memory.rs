//! What has been read or written, to notice files that others changed since.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use falconer_rule::Place;

use super::place;

/// Larger files are compared by size and time of change alone.
const HASHED: u64 = 64 << 20;

/// What is known of files: path → their state when they were last read or written.
#[derive(Debug, Default)]
pub(crate) struct FileMemory {
    seen: Mutex<HashMap<PathBuf, Seen>>,
}

/// The state of a file at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    inode: u64,
}

/// How much of a file is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    Part,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    stamp: Stamp,
    hash: Option<blake3::Hash>,
    extent: Extent,
}

/// A file that was changed, or removed, since it was read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} was changed on disk after it was read; read it again before changing it",
    .0.display()
)]
pub(crate) struct Stale(pub(crate) PathBuf);

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            modified: metadata.modified().ok(),
            size: metadata.len(),
            inode: metadata.ino(),
        }
    }
}

impl FileMemory {
    /// Notes a read. The stamp is from before it, so that a change during it is noticed.
    /// Takes a file as read without looking at it, because the host says so.
    pub(crate) fn seed(&self, path: &Path, metadata: &Metadata) {
        self.note_read(path, None, Stamp::of(metadata), Extent::Whole);
    }

    pub(crate) fn note_read(
        &self,
        path: &Path,
        hash: Option<blake3::Hash>,
        stamp: Stamp,
        extent: Extent,
    ) {
        let seen = Seen {
            stamp,
            hash,
            extent,
        };
        self.lock().insert(key(path), seen);
    }

    /// Whether the file is as it was; a file never read is not stale.
    pub(crate) fn check_unchanged(&self, path: &Path) -> Result<(), Stale> {
        let Some(seen) = self.lock().get(&key(path)).copied() else {
            return Ok(());
        };
        let same = std::fs::metadata(path).is_ok_and(|now| {
            Stamp::of(&now) == seen.stamp || (seen.hash.is_some() && hash_of(path) == seen.hash)
        });
        if same {
            Ok(())
        } else {
            Err(Stale(path.to_owned()))
        }
    }

    pub(crate) fn has_read(&self, path: &Path) -> bool {
        self.lock().contains_key(&key(path))
    }

    /// Whether all of it has been read, not only some lines.
    pub(crate) fn has_read_whole(&self, path: &Path) -> bool {
        let seen = self.lock().get(&key(path)).copied();
        seen.is_some_and(|seen| seen.extent == Extent::Whole)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One key for all the ways to write a path.
fn key(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn hash_of(path: &Path) -> Option<blake3::Hash> {
    let (file, metadata) = place::open_regular(path, &Place::of(path).real).ok()?;
    if metadata.len() > HASHED {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(HASHED).read_to_end(&mut bytes).ok()?;
    Some(blake3::hash(&bytes))
}
