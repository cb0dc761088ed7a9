//! The one directory that a confined command may write to.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags};

/// A directory that nobody else may enter, and that is removed with its content when dropped.
#[derive(Debug)]
pub(crate) struct PrivateDirectory {
    path: PathBuf,
}

/// Returns the directory in which private directories are made: the temporary directory of this
/// process.
pub(crate) fn base() -> &'static Path {
    static BASE: OnceLock<PathBuf> = OnceLock::new();
    BASE.get_or_init(|| {
        let base = std::env::temp_dir();
        base.canonicalize().unwrap_or(base)
    })
}

impl PrivateDirectory {
    /// Makes a directory. The name must be one that nobody can guess.
    pub(crate) fn make(name: &str) -> io::Result<Self> {
        let path = base().join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it for rules about it.
    pub(super) fn open(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::open(&self.path, flags, Mode::empty())?)
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        if std::fs::remove_dir(&self.path).is_ok() {
            return;
        }
        let path = std::mem::take(&mut self.path);
        if is_small(&path) {
            let _ = std::fs::remove_dir_all(path);
        } else {
            // Others must not wait for a directory that somebody filled on purpose.
            let removal = std::thread::Builder::new().name("falconer-tidy".to_owned());
            let _ = removal.spawn(move || std::fs::remove_dir_all(path));
        }
    }
}

/// Returns `true` if a directory holds a few files and no directories.
fn is_small(path: &Path) -> bool {
    const FEW: usize = 64;
    let Ok(entries) = std::fs::read_dir(path) else {
        return true;
    };
    let mut entries = entries.take(FEW + 1).enumerate();
    entries.all(|(index, entry)| {
        let kind = entry.and_then(|entry| entry.file_type());
        index < FEW && kind.is_ok_and(|kind| !kind.is_dir())
    })
}

/// Opens `/dev/null`, if it is the real one.
pub(super) fn open_null() -> io::Result<OwnedFd> {
    const NULL_DEVICE: u64 = 0x103;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let null = File::from(rustix::fs::open("/dev/null", flags, Mode::empty())?);
    let found = null.metadata()?;
    if found.file_type().is_char_device() && found.rdev() == NULL_DEVICE {
        return Ok(null.into());
    }
    let text = "/dev/null is not the null device";
    Err(io::Error::new(io::ErrorKind::InvalidData, text))
}
