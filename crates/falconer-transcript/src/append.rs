//! The only way lines get into a transcript: whole and in order.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FlockOperation, flock};

use crate::private_file::create_private_dir;

/// Appends a text and a newline with a single write; half of it is taken back.
///
/// The file has to be open for reading, too: a crash may have cut its last line, and then the
/// text must not be glued to it.
pub(crate) fn append(mut file: &File, text: &str) -> io::Result<()> {
    let before = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(text.len() + 2);
    if !ends_with_newline(file, before)? {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(b'\n');
    let written = file.write(&bytes)?;
    if written == bytes.len() {
        return Ok(());
    }
    // A disk that fills up takes half a line; take it back unless others wrote too.
    let after = before + written as u64;
    if file.metadata().is_ok_and(|meta| meta.len() == after) {
        file.set_len(before)?;
    }
    Err(io::ErrorKind::StorageFull.into())
}

fn ends_with_newline(file: &File, size: u64) -> io::Result<bool> {
    let mut last = [b'\n'];
    if size > 0 {
        file.read_exact_at(&mut last, size - 1)?;
    }
    Ok(last == [b'\n'])
}

/// A transcript that one process writes.
///
/// It holds an advisory lock on the file itself; the system releases it with the process, so
/// a crash leaves nothing behind. Nothing is buffered: a line that was accepted survives the
/// end of the process, however it ends.
#[derive(Debug)]
pub(crate) struct Writer {
    file: Arc<File>,
    path: PathBuf,
}

impl Writer {
    /// Creates a transcript, closed to other users. Fails if there is one.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        if let Some(project) = path.parent() {
            create_private_dir(project)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).read(true).create_new(true).mode(0o600);
        Self::lock(options.open(path)?, path)
    }

    /// Opens an existing transcript. [`io::ErrorKind::WouldBlock`] if somebody writes it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::lock(OpenOptions::new().append(true).read(true).open(path)?, path)
    }

    fn lock(file: File, path: &Path) -> io::Result<Self> {
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self {
            file: Arc::new(file),
            path: path.to_path_buf(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file, to bring it to the disk from another thread.
    pub(crate) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Appends one line, which is without its newline. Half a line is taken back.
    pub(crate) fn append(&self, line: &str) -> io::Result<()> {
        append(&self.file, line)
    }
}

impl Drop for Writer {
    /// A flush in the background may keep the file open for a while; the lock ends now.
    fn drop(&mut self) {
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_is_not_glued_to_the_next_one() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, "{\"cut").expect("written");
        let writer = Writer::open(&path).expect("opened");
        writer.append("{}").expect("written");
        writer.append("{}").expect("written");
        let text = std::fs::read_to_string(&path).expect("readable");
        assert_eq!(text, "{\"cut\n{}\n{}\n");
    }
}
