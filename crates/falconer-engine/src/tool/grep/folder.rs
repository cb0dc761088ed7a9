//! Opening the files of a tree: most come from the directory of the one before, which is kept
//! open so that its path is not looked up again.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};

/// The directory of the last file.
#[derive(Debug, Default)]
pub(super) struct Folder {
    last: Option<(PathBuf, OwnedFd)>,
}

impl Folder {
    /// Opens a file to read it. One that became a link or a pipe in the meantime is not followed
    /// or waited for.
    pub(super) fn open(&mut self, file: &Path) -> io::Result<OwnedFd> {
        let (Some(directory), Some(name)) = (file.parent(), file.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if self.last.as_ref().is_none_or(|(path, _)| path != directory) {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = rustix::fs::openat(CWD, directory, flags, Mode::empty())?;
            self.last = Some((directory.to_owned(), opened));
        }
        let Some((_, directory)) = &self.last else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(directory, name, flags, Mode::empty())?)
    }
}
