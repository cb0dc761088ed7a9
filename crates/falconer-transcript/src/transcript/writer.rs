//! The only way lines get into a transcript: whole, in order, by one process at a time.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FlockOperation, flock};

use super::place::create_private_dir;

/// An open transcript.
///
/// It holds an advisory lock on the file itself; the system releases it with the process, so
/// a crash leaves nothing behind. Nothing is buffered: a line that was accepted survives the
/// end of the process, however it ends.
#[derive(Debug)]
pub(super) struct Writer {
    file: Arc<File>,
    path: PathBuf,
    /// A crash may have cut the last line; then ours must not be glued to it.
    needs_newline: bool,
}

impl Writer {
    /// Creates a transcript, closed to other users. Fails if there is one.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        if let Some(project) = path.parent() {
            create_private_dir(project)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).read(true).create_new(true).mode(0o600);
        Self::lock(options.open(path)?, path)
    }

    /// Opens an existing transcript. [`io::ErrorKind::WouldBlock`] if somebody writes it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Self::lock(OpenOptions::new().append(true).read(true).open(path)?, path)
    }

    fn lock(file: File, path: &Path) -> io::Result<Self> {
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let size = file.metadata()?.len();
        let mut last = [b'\n'];
        if size > 0 {
            file.read_exact_at(&mut last, size - 1)?;
        }
        Ok(Self {
            file: Arc::new(file),
            path: path.to_path_buf(),
            needs_newline: last != [b'\n'],
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file, to bring it to the disk from another thread.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Appends one line, which is without its newline. Half a line is taken back.
    pub(super) fn append(&mut self, line: &str) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(line.len() + 2);
        if self.needs_newline {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        let before = self.file.metadata()?.len();
        let written = write_all(&self.file, &bytes);
        match written {
            Ok(()) => {
                self.needs_newline = false;
                Ok(())
            }
            Err(error) => {
                if self.file.set_len(before).is_err() {
                    self.needs_newline = true;
                }
                Err(error)
            }
        }
    }
}

impl Drop for Writer {
    /// A flush in the background may keep the file open for a while; the lock ends now.
    fn drop(&mut self) {
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

fn write_all(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)
}
