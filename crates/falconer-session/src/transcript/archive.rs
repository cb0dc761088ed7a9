//! The whole conversation is kept before the engine replaces it by a summary: every line of it,
//! without secrets.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use falconer_secret::Redactor;
use serde_json::Value;

/// How long archiving a transcript may take; less than an engine waits for a hook.
const ARCHIVING: Duration = Duration::from_secs(50);

/// A directory that keeps transcripts of engines before they are compacted.
#[derive(Debug, Clone)]
pub struct Archive {
    directory: PathBuf,
    redactor: Redactor,
}

impl Archive {
    pub(crate) fn new(directory: PathBuf, redactor: Redactor) -> Self {
        Self {
            directory,
            redactor,
        }
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Keeps every line of a transcript, without secrets.
    ///
    /// # Errors
    /// Why it could not be kept, in words for people.
    pub async fn keep(&self, transcript: PathBuf, session: String) -> Result<(), String> {
        let Self {
            directory,
            redactor,
        } = self.clone();
        let copying = tokio::task::spawn_blocking(move || {
            archive(&transcript, &directory, &session, &redactor)
        });
        match tokio::time::timeout(ARCHIVING, copying).await {
            Ok(Ok(Ok(_))) => Ok(()),
            Ok(Ok(Err(error))) => Err(error.to_string()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("it took longer than {ARCHIVING:?}")),
        }
    }
}

/// Copies the engine's transcript into a directory, under a name nothing else has.
fn archive(
    transcript: &Path,
    directory: &Path,
    session: &str,
    redactor: &Redactor,
) -> io::Result<PathBuf> {
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
    let from = File::open(transcript)?;
    let mut options = OpenOptions::new();
    let to = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    match copy(from, to, redactor) {
        Ok(()) => Ok(path),
        Err(error) => {
            // Half an archive would pass for a whole one.
            let _ = std::fs::remove_file(&path);
            Err(error)
        }
    }
}

fn copy(from: File, to: File, redactor: &Redactor) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut to = BufWriter::new(to);
    let mut line = Vec::new();
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        to.write_all(&without_secrets(&line, redactor))?;
    }
    to.into_inner()?.sync_all()
}

/// A line that holds no secret stays as it is, byte by byte.
fn without_secrets<'a>(line: &'a [u8], redactor: &Redactor) -> std::borrow::Cow<'a, [u8]> {
    let Ok(mut value) = serde_json::from_slice::<Value>(line) else {
        let text = String::from_utf8_lossy(line);
        return match redactor.text(&text) {
            Some(clean) => clean.into_bytes().into(),
            None => line.into(),
        };
    };
    if redactor.value(&mut value) {
        format!("{value}\n").into_bytes().into()
    } else {
        line.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use falconer_secret::REDACTED;

    #[test]
    fn an_archive_has_every_line_and_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("t.jsonl");
        let lines = [
            r#"{"a": 1,  "text": "plain"}"#,
            r#"{"text": "the key is hunter2-\u0068unter2", "deep": [{"k": "hunter2-hunter2"}]}"#,
            "no json but hunter2-hunter2",
            "last, without an end",
        ];
        std::fs::write(&transcript, lines.join("\n")).unwrap();
        let redactor = Redactor::new(["hunter2-hunter2"]);
        let path = archive(&transcript, &folder.path().join("kept"), "s", &redactor).unwrap();
        let kept = std::fs::read_to_string(path).unwrap();
        let kept: Vec<&str> = kept.lines().collect();
        assert_eq!(kept.len(), lines.len());
        assert_eq!((kept[0], kept[3]), (lines[0], lines[3]));
        assert!(kept.iter().all(|line| !line.contains("unter2")), "{kept:?}");
        assert_eq!(kept[1].matches(REDACTED).count(), 2);
        assert_eq!(kept[2], "no json but [redacted]");
    }

    #[test]
    fn archives_never_collide_and_never_leave_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("t.jsonl");
        std::fs::write(&transcript, "whole\n").unwrap();
        let directory = folder.path().join("archive");
        let redactor = Redactor::default();
        for _ in 0..50 {
            let path = archive(&transcript, &directory, "../../s/1", &redactor).unwrap();
            assert_eq!(path.parent(), Some(directory.as_path()));
            assert_eq!(std::fs::read_to_string(path).unwrap(), "whole\n");
        }
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 50);
        let missing = archive(&folder.path().join("none"), &directory, "s", &redactor);
        assert!(missing.is_err());
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 50);
    }
}
