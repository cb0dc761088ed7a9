//! The whole conversation is kept before the engine replaces it by a summary.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Copies the engine's transcript into a directory, under a name nothing else has.
pub(crate) fn archive(transcript: &Path, directory: &Path, session: &str) -> io::Result<PathBuf> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let session: String = session
        .chars()
        .filter(|letter| plain(*letter))
        .take(64)
        .collect();
    let name = format!("{session}.{}.jsonl", uuid::Uuid::now_v7());
    let path = directory.join(name);
    let mut from = std::fs::File::open(transcript)?;
    let mut options = OpenOptions::new();
    let mut to = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    match io::copy(&mut from, &mut to).and_then(|_| to.sync_all()) {
        Ok(()) => Ok(path),
        Err(error) => {
            // Half an archive would pass for a whole one.
            let _ = std::fs::remove_file(&path);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_never_collide_and_never_leave_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("t.jsonl");
        std::fs::write(&transcript, "whole\n").unwrap();
        let directory = folder.path().join("archive");
        for _ in 0..50 {
            let path = archive(&transcript, &directory, "../../s/1").unwrap();
            assert_eq!(path.parent(), Some(directory.as_path()));
            assert_eq!(std::fs::read_to_string(path).unwrap(), "whole\n");
        }
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 50);
        let missing = archive(&folder.path().join("none"), &directory, "s");
        assert!(missing.is_err());
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 50);
    }
}
