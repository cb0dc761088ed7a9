//! At most one run per session, in this process and on this machine.
//!
//! Two things hold a session: an entry in a table of the process, which also says who waits,
//! and an advisory lock on a file, which the kernel gives back when its holder dies, however
//! it dies.

mod file;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use file::FileLock;

/// How often a lock that another process holds is tried again.
const FILE_POLL: Duration = Duration::from_millis(50);
/// The longest wait; more than this is for ever.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Where the locks of sessions are kept.
///
/// Every program that may touch the same sessions has to use the same directory. Cheap to
/// clone; all copies of one directory in a process share their table.
#[derive(Debug, Clone)]
pub struct SessionLocks {
    directory: Arc<Path>,
}

/// Keeps a session for its holder; given back when dropped.
#[derive(Debug)]
#[must_use = "a lock that is dropped is released"]
pub struct SessionLock {
    key: (Arc<Path>, String),
    /// Released before the entry in the table, so that who is woken can take it.
    file: Option<FileLock>,
}

/// Why a session could not be locked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Somebody has it.
    #[error("session {session} is in use by {holder}; wait for its run to end, or fork it")]
    Held {
        /// The session.
        session: String,
        /// Who.
        holder: Holder,
    },
    /// The lock file could not be used.
    #[error("failed to lock session {session} in {}: {source}", path.display())]
    Io {
        /// The session.
        session: String,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// Who holds a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// A run of this process.
    ThisProcess,
    /// A process, if it said which.
    Other(Option<u32>),
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ThisProcess => f.write_str("another run of this process"),
            Self::Other(Some(pid)) => write!(f, "process {pid}"),
            Self::Other(None) => f.write_str("another process"),
        }
    }
}

/// The sessions this process holds, and whom to wake when one is given back.
static HELD: Mutex<Option<Table>> = Mutex::new(None);

/// By directory and session.
type Table = HashMap<(Arc<Path>, String), Arc<Notify>>;

fn held<T>(work: impl FnOnce(&mut Table) -> T) -> T {
    let mut table = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    work(table.get_or_insert_default())
}

impl SessionLocks {
    /// Locks in this directory, which is made when the first one is taken.
    pub fn new(directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref();
        // One directory must have one name, or the table of the process would not notice.
        let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        Self {
            directory: directory.into(),
        }
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Takes the lock of a session, without waiting.
    ///
    /// # Errors
    /// [`LockError::Held`] if somebody has it, [`LockError::Io`] if the directory is of no use.
    pub fn try_lock(&self, session: &str) -> Result<SessionLock, LockError> {
        let key = (self.directory.clone(), session.to_owned());
        let is_free = held(|table| match table.entry(key.clone()) {
            std::collections::hash_map::Entry::Occupied(_) => false,
            std::collections::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(Arc::new(Notify::new()));
                true
            }
        });
        if !is_free {
            return Err(LockError::Held {
                session: session.to_owned(),
                holder: Holder::ThisProcess,
            });
        }
        // From here on dropping it takes the entry out again.
        let mut lock = SessionLock { key, file: None };
        lock.file = Some(FileLock::take(&self.directory, session)?);
        Ok(lock)
    }

    /// Takes the lock of a session and waits for it if need be.
    ///
    /// # Errors
    /// As [`SessionLocks::try_lock`], once the time is over.
    pub async fn lock(&self, session: &str, within: Duration) -> Result<SessionLock, LockError> {
        let deadline = Instant::now() + within.min(LONGEST);
        loop {
            let key = (self.directory.clone(), session.to_owned());
            let freed = held(|table| table.get(&key).cloned());
            let error = match freed {
                Some(freed) => {
                    // Made before the next look, so that a release in between is not missed.
                    let notified = freed.notified();
                    if tokio::time::timeout_at(deadline, notified).await.is_ok() {
                        continue;
                    }
                    LockError::Held {
                        session: session.to_owned(),
                        holder: Holder::ThisProcess,
                    }
                }
                None => match self.try_lock(session) {
                    Err(error @ LockError::Held { .. }) => error,
                    other => return other,
                },
            };
            if Instant::now() >= deadline {
                return Err(error);
            }
            let poll = (Instant::now() + FILE_POLL).min(deadline);
            tokio::time::sleep_until(poll).await;
        }
    }
}

impl SessionLock {
    /// The session.
    pub fn session(&self) -> &str {
        &self.key.1
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        drop(self.file.take());
        if let Some(freed) = held(|table| table.remove(&self.key)) {
            // A permit is kept for whoever is about to wait.
            freed.notify_one();
            freed.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests;
