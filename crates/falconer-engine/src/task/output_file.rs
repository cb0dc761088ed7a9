//! The file with all that a command wrote: private, bounded, and never a reason to fail.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use tokio::io::AsyncWriteExt;

/// A file that is being written.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    file: tokio::fs::File,
    written: u64,
    cap: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Open,
    /// The cap was reached, and the file says so.
    Full,
    /// What the system said.
    Failed(String),
}

impl OutputFile {
    /// Makes a new file that only this user can read. Nothing that exists is opened.
    pub(super) async fn create(path: PathBuf, cap: u64) -> io::Result<Self> {
        let mut options = tokio::fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600);
        let file = file.open(&path).await?;
        Ok(Self::over(file, path, cap))
    }

    fn over(file: tokio::fs::File, path: PathBuf, cap: u64) -> Self {
        Self {
            path,
            file,
            written: 0,
            cap,
            state: State::Open,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Why the file does not hold everything.
    pub(super) fn problem(&self) -> Option<String> {
        match &self.state {
            State::Open => None,
            State::Full => Some(format!("only the first {} bytes are in the file", self.cap)),
            State::Failed(error) => Some(format!("the file is incomplete: {error}")),
        }
    }

    /// Adds to the file. A command is not held up by a full disk: what cannot be written is
    /// dropped, and [`problem`](Self::problem) says so.
    pub(super) async fn write(&mut self, bytes: &[u8]) {
        if !matches!(self.state, State::Open) {
            return;
        }
        let room = usize::try_from(self.cap - self.written).unwrap_or(usize::MAX);
        let (kept, dropped) = bytes.split_at(room.min(bytes.len()));
        let mut result = self.put(kept).await;
        if result.is_ok() && !dropped.is_empty() {
            let note = format!(
                "\n[output after the first {} bytes is left out]\n",
                self.cap
            );
            result = self.put(note.as_bytes()).await;
            self.state = State::Full;
        }
        match result {
            Ok(()) => self.written += kept.len() as u64,
            Err(error) => self.state = State::Failed(error.to_string()),
        }
    }

    async fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await?;
        // Whoever reads the file meanwhile sees what the command has written so far.
        self.file.flush().await
    }
}

/// Makes a directory that nobody else can enter, and refuses one that somebody else prepared.
///
/// Whoever owns a directory on the way can exchange what is below it, so all of them are looked
/// at, up to the first that everybody shares, such as `/tmp`.
pub(crate) fn private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    if std::fs::symlink_metadata(path)?.mode() & 0o022 != 0 {
        return Err(not_private(path, "others may write to it"));
    }
    let us = rustix::process::geteuid().as_raw();
    for directory in path.ancestors().filter(|it| !it.as_os_str().is_empty()) {
        let found = std::fs::symlink_metadata(directory)?;
        let (is_ours, is_shared) = (found.uid() == us, found.mode() & 0o1000 != 0);
        let is_known_link = directory != path && (is_ours || found.uid() == 0);
        if !found.is_dir() && !is_known_link {
            return Err(not_private(directory, "it is a link or not a directory"));
        }
        if is_shared && directory != path {
            return Ok(());
        }
        if !is_ours {
            return match found.uid() {
                0 => Ok(()),
                _ => Err(not_private(directory, "it belongs to somebody else")),
            };
        }
        if found.is_dir() && found.mode() & 0o002 != 0 {
            return Err(not_private(directory, "others may write to it"));
        }
    }
    Ok(())
}

fn not_private(directory: &Path, why: &str) -> io::Error {
    io::Error::other(format!("{} is not private: {why}", directory.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    async fn written(cap: u64, chunks: &[&[u8]]) -> (String, Option<String>) {
        let den = tempfile::tempdir().unwrap();
        let path = den.path().join("out");
        let mut file = OutputFile::create(path.clone(), cap).await.unwrap();
        for chunk in chunks {
            file.write(chunk).await;
        }
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        (std::fs::read_to_string(path).unwrap(), file.problem())
    }

    #[tokio::test]
    async fn the_cap_is_kept_and_told_once() {
        assert_eq!(
            written(10, &[b"12345", b"67890"]).await,
            ("1234567890".into(), None)
        );
        let (text, problem) = written(10, &[b"12345", b"678901", b"2", b"3"]).await;
        assert_eq!(
            text,
            "1234567890\n[output after the first 10 bytes is left out]\n"
        );
        assert_eq!(problem.unwrap(), "only the first 10 bytes are in the file");
    }

    #[tokio::test]
    async fn a_full_disk_is_told_and_not_fatal() {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let mut file = OutputFile::over(full.into(), "/dev/full".into(), 1 << 20);
        file.write(b"x").await;
        file.write(b"y").await;
        let problem = file.problem().unwrap();
        assert!(problem.contains("No space left"), "{problem}");
    }

    #[tokio::test]
    async fn nothing_that_exists_is_written_to() {
        let den = tempfile::tempdir().unwrap();
        let path = den.path().join("out");
        symlink("/dev/null", &path).unwrap();
        assert!(OutputFile::create(path, 10).await.is_err());
    }

    #[test]
    fn a_directory_of_others_is_refused() {
        let den = tempfile::tempdir().unwrap();
        let own = den.path().join("a/b");
        private_directory(&own).unwrap();
        private_directory(&own).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&own), mode(&den.path().join("a"))), (0o700, 0o700));
        let link = den.path().join("link");
        symlink(&own, &link).unwrap();
        assert!(private_directory(&link).is_err());
        std::fs::set_permissions(&own, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(private_directory(&own).is_err());
    }

    #[test]
    fn a_directory_of_others_on_the_way_is_refused() {
        let den = tempfile::tempdir().unwrap();
        let top = den.path().join("claude-0");
        let own = top.join("project/session/tasks");
        private_directory(&own).unwrap();
        let refused = |mode: u32| {
            std::fs::set_permissions(&top, PermissionsExt::from_mode(mode)).unwrap();
            private_directory(&own).err().map(|error| error.to_string())
        };
        assert_eq!(refused(0o700), None);
        let said = refused(0o777).unwrap();
        assert!(
            said.contains("claude-0 is not private: others may"),
            "{said}"
        );
        std::fs::set_permissions(&top, PermissionsExt::from_mode(0o755)).unwrap();
        // Only root can give a directory away.
        if rustix::process::geteuid().is_root() {
            let nobody = 65534;
            std::os::unix::fs::chown(&top, Some(nobody), None).unwrap();
            let said = private_directory(&own).unwrap_err().to_string();
            assert!(
                said.contains("claude-0 is not private: it belongs"),
                "{said}"
            );
        }
    }
}
