//! A home for one run: made fresh, locked while it is used, deleted at the end.
//!
//! The lock is an advisory one on the directory itself. A process that dies, however it dies,
//! loses it; so a home without a lock belongs to nobody and is swept at the next start.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};

use super::IsolationError;

/// Prefix of the name of every home; nothing else may be swept.
const PREFIX: &str = "falconer-home-";

/// A home can be swept by another process between its making and its locking.
const ATTEMPTS: usize = 16;

/// An engine that is being killed may write a last time.
const REMOVALS: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// A private directory that is deleted when this is dropped.
#[derive(Debug)]
#[must_use = "dropping it deletes the directory"]
pub struct Home {
    path: PathBuf,
    _lock: OwnedFd,
}

impl Home {
    /// Makes a home in `parent`, after sweeping what dead processes left there.
    ///
    /// # Errors
    ///
    /// [`IsolationError::Home`] if `parent` is not there, read-only or full.
    pub fn create(parent: &Path) -> Result<Self, IsolationError> {
        sweep(parent);
        for _ in 0..ATTEMPTS {
            let mut builder = tempfile::Builder::new();
            builder
                .prefix(PREFIX)
                .permissions(Permissions::from_mode(0o700));
            let made = builder.tempdir_in(parent);
            let path = made.map_err(IsolationError::home("create", parent))?.keep();
            match lock(&path) {
                Ok(Some(lock)) => return Ok(Self { path, _lock: lock }),
                // A sweeper was faster.
                Ok(None) => {}
                Err(source) => {
                    remove(&path);
                    return Err(IsolationError::home("lock", &path)(source));
                }
            }
        }
        let source = io::Error::other("other processes keep sweeping it away");
        Err(IsolationError::home("lock", parent)(source))
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file that only this user can read.
    pub(crate) fn put(&self, name: &str, content: &[u8]) -> Result<(), IsolationError> {
        let path = self.path.join(name);
        let mut options = std::fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(content))
            .map_err(IsolationError::home("write", &path))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Deletes the homes in `parent` that no living process holds, and returns them.
///
/// Only directories of this user with the name of a home are touched.
pub fn sweep(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(parent) else {
        return Vec::new();
    };
    let named = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    named.filter_map(|entry| sweep_one(&entry.path())).collect()
}

fn sweep_one(path: &Path) -> Option<PathBuf> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    if !metadata.is_dir() || metadata.uid() != rustix::process::geteuid().as_raw() {
        return None;
    }
    // Held until the directory is gone, so that nobody moves in.
    let _lock = lock(path).ok()??;
    tracing::info!(home = %path.display(), "sweeping a home that a dead process left");
    remove(path);
    Some(path.to_owned())
}

/// The lock on a directory; none if somebody else has it or the directory is gone.
fn lock(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(directory) => directory,
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    // What was locked may have been deleted, and may be another directory by now.
    let locked = rustix::fs::fstat(&directory)?;
    let same = std::fs::symlink_metadata(path)
        .is_ok_and(|there| there.ino() == locked.st_ino && there.dev() == locked.st_dev);
    Ok(same.then_some(directory))
}

/// Deletes a directory, even if something is still being written into it.
fn remove(path: &Path) {
    for attempt in 0..REMOVALS {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        match std::fs::remove_dir_all(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => open_up(path, 0),
            Err(_) => {}
        }
        if std::fs::symlink_metadata(path).is_err() {
            return;
        }
    }
    tracing::warn!(home = %path.display(), "failed to delete a home; the next start sweeps it");
}

/// Makes directories enterable that a command locked up.
fn open_up(directory: &Path, depth: usize) {
    if depth > 64 {
        return;
    }
    let _ = std::fs::set_permissions(directory, Permissions::from_mode(0o700));
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path(), depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use super::{Home, IsolationError, PREFIX, sweep};

    #[test]
    fn a_home_is_private_and_gone_after_drop_and_after_a_panic() {
        let parent = tempfile::tempdir().unwrap();
        let home = Home::create(parent.path()).unwrap();
        let path = home.path().to_owned();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        std::fs::write(path.join("a/b/c"), "x").unwrap();
        std::fs::set_permissions(path.join("a"), std::fs::Permissions::from_mode(0o0)).unwrap();
        drop(home);
        assert!(!path.exists());
        let panicked = std::panic::catch_unwind(|| {
            let _home = Home::create(parent.path()).unwrap();
            panic!("as a caller might");
        });
        assert!(panicked.is_err());
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_nobody_holds_is_swept_and_what_somebody_holds_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let alive = Home::create(parent.path()).unwrap();
        let dead = parent.path().join(format!("{PREFIX}dead"));
        std::fs::create_dir_all(dead.join(".claude")).unwrap();
        let stranger = parent.path().join("falconer-other");
        std::fs::create_dir(&stranger).unwrap();
        let victim = tempfile::tempdir().unwrap();
        std::fs::write(victim.path().join("keep"), "x").unwrap();
        symlink(victim.path(), parent.path().join(format!("{PREFIX}link"))).unwrap();
        symlink(victim.path(), dead.join("link")).unwrap();
        std::fs::write(parent.path().join(format!("{PREFIX}file")), "x").unwrap();
        let second = Home::create(parent.path()).unwrap();
        assert!(!dead.exists(), "creating sweeps");
        assert!(alive.path().exists() && second.path().exists() && stranger.exists());
        assert!(
            victim.path().join("keep").exists(),
            "links are not followed"
        );
        assert_eq!(sweep(parent.path()), Vec::<PathBuf>::new());
        drop(alive);
        drop(second);
    }

    #[test]
    fn many_that_start_and_sweep_at_once_do_not_take_each_other_s_homes() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let home = Home::create(parent.path()).unwrap();
                        std::fs::write(home.path().join("mine"), "x").unwrap();
                        sweep(parent.path());
                        assert!(home.path().join("mine").exists());
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_parent_that_cannot_hold_it_is_a_typed_error() {
        let parent = tempfile::tempdir().unwrap();
        let missing = Home::create(&parent.path().join("missing"));
        let file = parent.path().join("file");
        std::fs::write(&file, "").unwrap();
        for result in [missing, Home::create(&file), Home::create("/proc".as_ref())] {
            let Err(error @ IsolationError::Home { .. }) = result else {
                panic!("{result:?}")
            };
            assert!(
                error.to_string().starts_with("failed to create the home"),
                "{error}"
            );
        }
    }
}
