//! Small files that only the user can read.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::SessionError;

/// More than any settings or credential file; the CLI's own state can grow to megabytes.
const SIZE_LIMIT: u64 = 8 << 20;

/// Writes a file that only the user can read, in directories that only the user can read.
///
/// # Errors
/// If the file exists already or cannot be written.
pub fn write_private(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), SessionError> {
    let failed = || SessionError::io("write", path);
    if let Some(parent) = path.parent() {
        create_private_dir(parent).map_err(SessionError::io("create", parent))?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut out = BufWriter::new(options.open(path).map_err(failed())?);
    write(&mut out).and_then(|()| out.flush()).map_err(failed())
}

/// Creates a directory and its parents, closed to other users.
pub(crate) fn create_private_dir(directory: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
}

/// Reads a regular file of a bounded size; `None` if there is none at the path.
pub(crate) fn read_if_present(path: &Path) -> Result<Option<Vec<u8>>, SessionError> {
    let failed = || SessionError::io("read", path);
    // Does not wait for the other end of a pipe.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    let file = match options.open(path) {
        Err(error) if is_absent(&error) => return Ok(None),
        other => other.map_err(failed())?,
    };
    if !file.metadata().map_err(failed())?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    // A file can be longer than it says.
    let read = file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes);
    read.map_err(failed())?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(failed()(io::ErrorKind::FileTooLarge.into()));
    }
    Ok(Some(bytes))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
