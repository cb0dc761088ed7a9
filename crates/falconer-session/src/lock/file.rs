//! The lock between processes: `flock` on a file named after the session.
//!
//! The kernel drops the lock with the last descriptor, so a holder that is killed leaves
//! nothing but a small file. The file is removed on release; whoever locked a file that is no
//! longer the one at its path tries again.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::{Holder, LockError};

/// How often a file may be replaced under us before that is an error.
const REPLACED: usize = 100;

/// A locked file; unlocked and removed when dropped.
#[derive(Debug)]
pub(super) struct FileLock {
    path: PathBuf,
    file: File,
}

/// What a holder writes into its file, for people and messages; it decides nothing.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    pid: u32,
    session: String,
}

impl FileLock {
    pub(super) fn take(directory: &Path, session: &str) -> Result<Self, LockError> {
        let path = directory.join(file_name(session));
        let failed = |source| LockError::Io {
            session: session.to_owned(),
            path: path.clone(),
            source,
        };
        for _ in 0..REPLACED {
            let mut file = open(directory, &path).map_err(failed)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    return Err(LockError::Held {
                        session: session.to_owned(),
                        holder: Holder::Other(holder(&mut file)),
                    });
                }
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(failed(error.into())),
            }
            if is_at(&file, &path) {
                // A note that cannot be written (a full disk) costs a name in a message only.
                let _ = write_note(&mut file, session);
                return Ok(Self { path, file });
            }
        }
        Err(failed(io::Error::other(
            "the lock file keeps being replaced",
        )))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Removed while locked: nobody can have locked this very file in between.
        if is_at(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Ids are opaque and may hold anything, so the name is a hash.
fn file_name(session: &str) -> String {
    let hash = blake3::hash(session.as_bytes()).to_hex();
    format!("{}.lock", &hash[..32])
}

fn open(directory: &Path, path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.mode(0o600).custom_flags(nofollow());
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)?;
            options.open(path)
        }
        other => other,
    }
}

fn nofollow() -> i32 {
    i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0)
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(ours), Ok(there)) = (file.metadata(), std::fs::symlink_metadata(path)) else {
        return false;
    };
    (ours.dev(), ours.ino()) == (there.dev(), there.ino())
}

fn write_note(file: &mut File, session: &str) -> io::Result<()> {
    let note = Note {
        pid: std::process::id(),
        session: session.to_owned(),
    };
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&serde_json::to_vec(&note)?)
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = Vec::new();
    file.take(4096).read_to_end(&mut text).ok()?;
    let note: Note = serde_json::from_slice(&text).ok()?;
    Some(note.pid)
}
