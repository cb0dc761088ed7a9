//! Opening files below the projects directory without following links out of it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// The projects directory, with links in its own path resolved.
///
/// The directory itself may be a link (people keep it on another disk); what is in it may
/// only link to places inside.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    path: PathBuf,
    real: Option<PathBuf>,
}

impl Root {
    pub(crate) fn new(path: PathBuf) -> Self {
        let real = fs::canonicalize(&path).ok();
        Self { path, real }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path to use for `path`: itself, or the target of a link that stays inside.
    pub(crate) fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        if !fs::symlink_metadata(path)?.is_symlink() {
            return Ok(path.to_path_buf());
        }
        let target = fs::canonicalize(path)?;
        match &self.real {
            Some(real) if target.starts_with(real) => Ok(target),
            _ => Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the link leads out of the projects directory",
            )),
        }
    }

    /// Opens a regular file for reading.
    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        self.open_with(path, OpenOptions::new().read(true))
    }

    /// Opens an existing regular file for reading and appending.
    pub(crate) fn open_append(&self, path: &Path) -> io::Result<File> {
        self.open_with(path, OpenOptions::new().read(true).append(true))
    }

    fn open_with(&self, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        // NOFOLLOW closes the gap between looking and opening; NONBLOCK keeps a FIFO from
        // hanging us.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
        let file = match options.open(path) {
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                options.open(self.resolve(path)?)?
            }
            other => other?,
        };
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "not a file"));
        }
        Ok(file)
    }

    /// The directories in the projects directory, sorted by name.
    pub(crate) fn projects(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = entries(&self.path)
            .into_iter()
            .filter_map(|path| self.resolve(&path).ok())
            .filter(|path| path.is_dir())
            .collect();
        found.sort();
        found.dedup();
        found
    }

    /// `path` if it is a directory inside.
    pub(crate) fn directory(&self, path: &Path) -> Option<PathBuf> {
        self.resolve(path).ok().filter(|path| path.is_dir())
    }
}

/// What is in a directory; nothing if it cannot be read.
pub(crate) fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect()
}
