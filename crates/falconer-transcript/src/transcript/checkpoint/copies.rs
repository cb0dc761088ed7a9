//! Copies of files, named after their contents: the same contents are kept once.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use falconer_process::no_links::{self, Parent};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::journal::{FileState, Kept};
use crate::private_file::create_private_dir;

/// The copies of one session.
#[derive(Debug)]
pub(super) struct Copies {
    directory: PathBuf,
}

impl Copies {
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_path_buf(),
        }
    }

    /// Keeps what is at a path now.
    pub(super) fn keep(&self, path: &Path, real: &Path) -> io::Result<Kept> {
        let real_parent = real.parent().map(Path::to_owned);
        let state = match open_regular(real)? {
            Found::Nothing => FileState::Absent,
            Found::Other => FileState::Untouchable,
            Found::File(file) => FileState::File {
                mode: file.metadata()?.permissions().mode() & 0o7777,
                copy: self.copy(file)?,
            },
        };
        Ok(Kept {
            path: path.to_path_buf(),
            real_parent,
            state,
        })
    }

    fn copy(&self, mut file: File) -> io::Result<String> {
        create_private_dir(&self.directory)?;
        // Removed again if anything fails before it has its name.
        let mut copy = NamedTempFile::new_in(&self.directory)?;
        let name = hash_while(&mut file, |piece| copy.write_all(piece))?;
        let target = self.directory.join(&name);
        if !target.exists() {
            copy.as_file().sync_data()?;
            copy.persist(target)?;
        }
        Ok(name)
    }

    /// Opens a copy, after a look whether its contents are still what they were.
    pub(super) fn open(&self, name: &str) -> io::Result<File> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the copy is damaged");
        if !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(damaged());
        }
        // Forks share copies by hard links; what counts is that the contents are right.
        let mut file = File::open(self.directory.join(name))?;
        if hash_while(&mut file, |_| Ok(()))? != name {
            return Err(damaged());
        }
        file.rewind()?;
        Ok(file)
    }
}

/// What is at a path; links are not followed, not even those of its directories.
#[derive(Debug)]
pub(super) enum Found {
    Nothing,
    File(File),
    /// A link, a directory, a device, or a file with several names.
    Other,
}

pub(super) fn open_regular(path: &Path) -> io::Result<Found> {
    let is_plain = |meta: &fs::Metadata| meta.is_file() && meta.nlink() <= 1;
    let found = Parent::open(path).and_then(|parent| parent.look());
    match found {
        Ok(None) => return Ok(Found::Nothing),
        Err(error) if is_absent(&error) => return Ok(Found::Nothing),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => return Ok(Found::Other),
        Err(error) => return Err(error),
        Ok(Some(meta)) if !meta.is_file() => return Ok(Found::Other),
        Ok(Some(_)) => {}
    }
    let file = no_links::open(path)?;
    if is_plain(&file.metadata()?) {
        Ok(Found::File(file))
    } else {
        Ok(Found::Other)
    }
}

fn is_absent(error: &io::Error) -> bool {
    let kinds = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    kinds.contains(&error.kind())
}

/// The name of the contents of a file; every piece that is read is handed on.
pub(super) fn hash_while(
    file: &mut File,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = match file.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if length == 0 {
            return Ok(hasher.finalize().to_hex().to_string());
        }
        hasher.update(&buffer[..length]);
        each(&buffer[..length])?;
    }
}
