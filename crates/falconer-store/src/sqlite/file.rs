//! The file of a store: made for the user alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};

/// Makes directories and file if they are missing, and takes rights of others away.
///
/// The file is made here and not by SQLite, so that there is no moment in which others can open
/// it. SQLite gives its log and its index the rights of the file.
pub(super) fn prepare(path: &Path) -> Result<()> {
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        private_directory(parent).map_err(|error| failed(path, "make the directory of", error))?;
    }
    match create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            close_to_others(path).map_err(|error| failed(path, "open", error))
        }
        Err(error) => Err(failed(path, "create", error)),
    }
}

fn failed(path: &Path, what: &str, error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::ReadOnly {
            path: path.to_owned(),
            detail: error.to_string(),
        },
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full {
            path: path.to_owned(),
        },
        _ => Error::Io {
            during: format!("{what} {}", path.display()),
            source: Arc::new(error),
        },
    }
}

fn create(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)?;
    // The entry itself has to survive a power failure before the first commit is acknowledged.
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}

/// Number of bytes that a disk has to have room for.
const PROBE: usize = 256 << 10;

/// Shows that the disk takes more than the store has now, by writing a file beside it.
pub(super) fn probe(path: &Path) -> Result<()> {
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!("-probe-{}", uuid::Uuid::new_v4().simple()));
    let file = directory.unwrap_or(Path::new(".")).join(name);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let written = options.open(&file).and_then(|mut probe| {
        probe.write_all(&[0; PROBE])?;
        probe.sync_data()
    });
    // Whether or not it was made.
    let _ = fs::remove_file(&file);
    written.map_err(|error| failed(path, "write beside", error))
}

fn private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(path)
}

#[cfg(unix)]
fn close_to_others(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        let detail = "it is not a file";
        return Err(io::Error::new(ErrorKind::InvalidInput, detail));
    }
    let mode = metadata.permissions().mode();
    if mode & 0o077 != 0 {
        tracing::warn!(path = %path.display(), "others could read the store; they no longer can");
        fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn close_to_others(path: &Path) -> io::Result<()> {
    fs::metadata(path).map(|_| ())
}
