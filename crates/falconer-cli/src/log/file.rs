//! A log file that does not grow for ever. Both executables use it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The size at which a file is moved aside, in bytes.
pub(crate) const LARGEST: u64 = 16 << 20;

/// A file, and beside it the one before with `.1` at its end.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    largest: u64,
    open: Mutex<(File, u64)>,
}

impl LogFile {
    /// Opens a file to append to; only its owner can read a new one.
    pub(crate) fn open(path: &Path, largest: u64) -> io::Result<Self> {
        if let Some(parent) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(parent)?;
        }
        Ok(Self {
            path: path.to_owned(),
            largest,
            open: Mutex::new(append(path)?),
        })
    }

    /// Adds a line. A log that cannot be written is nothing to fail for.
    pub(crate) fn add(&self, line: &str) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.1 + line.len() as u64 > self.largest && open.1 > 0 {
            let mut old = self.path.clone().into_os_string();
            old.push(".1");
            if fs::rename(&self.path, old).is_ok()
                && let Ok(new) = append(&self.path)
            {
                *open = new;
            }
        }
        if open.0.write_all(line.as_bytes()).is_ok() {
            open.1 += line.len() as u64;
        }
    }
}

fn append(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    let file = options.append(true).create(true).mode(0o600).open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_full_file_is_moved_aside_and_only_its_owner_reads_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/a.log");
        let log = LogFile::open(&path, 20).unwrap();
        for line in ["first line\n", "second line\n", "third line\n"] {
            log.add(line);
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "third line\n");
        let old = directory.path().join("deep/a.log.1");
        assert_eq!(fs::read_to_string(old).unwrap(), "second line\n");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
