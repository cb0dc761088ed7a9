//! Reading small JSON files that somebody else wrote: bounded, never blocking, never quoted.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

/// More than any settings or credential file; the CLI's own state can grow to megabytes.
pub(crate) const SIZE_LIMIT: u64 = 8 << 20;

/// The reason a file could not be used. Its content is never part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "problem")]
#[non_exhaustive]
pub enum FileProblem {
    /// It is not there.
    #[error("not found")]
    NotFound,
    /// It is a directory, a pipe, a device.
    #[error("not a regular file")]
    NotAFile,
    /// It is larger than such a file can be.
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// It could not be opened or read.
    #[error("unreadable: {reason}")]
    Unreadable {
        /// The words of the system.
        reason: String,
    },
    /// It is not a JSON object in UTF-8.
    #[error("not a JSON object")]
    NotAnObject,
}

/// The JSON object in a file.
pub(crate) fn object(path: &Path) -> Result<Map<String, Value>, FileProblem> {
    let text = text(path)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Ok(fields),
        // The reader's words may quote the file.
        Ok(_) | Err(_) => Err(FileProblem::NotAnObject),
    }
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String, FileProblem> {
    let bytes = bytes(path, SIZE_LIMIT)?;
    String::from_utf8(bytes).map_err(|_| FileProblem::NotAnObject)
}

/// The content of a regular file of at most `limit` bytes.
pub(crate) fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, FileProblem> {
    let file = open(path).map_err(|error| unreadable(&error))?;
    let metadata = file.metadata().map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err(FileProblem::NotAFile);
    }
    let mut bytes = Vec::new();
    // A file can be longer than it says.
    let mut bounded = file.take(limit + 1);
    bounded
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > limit {
        return Err(FileProblem::TooLarge { limit });
    }
    Ok(bytes)
}

/// Opens without waiting for the other end of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let mut options = std::fs::OpenOptions::new();
    options.read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn unreadable(error: &io::Error) -> FileProblem {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileProblem::NotFound,
        _ => FileProblem::Unreadable {
            reason: error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{FileProblem, SIZE_LIMIT, object};

    #[test]
    fn hostile_files_have_a_verdict_and_do_not_block() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &[u8]| {
            let path = directory.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let huge = write("huge", b"");
        std::fs::File::options()
            .write(true)
            .open(&huge)
            .unwrap()
            .set_len(SIZE_LIMIT + 1)
            .unwrap();
        let pipe = directory.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        let table = [
            (directory.path().join("none"), FileProblem::NotFound),
            (huge.join("below-a-file"), FileProblem::NotFound),
            (directory.path().to_owned(), FileProblem::NotAFile),
            (pipe, FileProblem::NotAFile),
            (Path::new("/dev/zero").to_owned(), FileProblem::NotAFile),
            (huge, FileProblem::TooLarge { limit: SIZE_LIMIT }),
            (write("deep", deep.as_bytes()), FileProblem::NotAnObject),
            (
                write("latin", b"{\"a\": \"\xe9\"}"),
                FileProblem::NotAnObject,
            ),
            (write("list", b"[1]"), FileProblem::NotAnObject),
            (
                write("cut", b"{\"apiKey\": \"sk-ant-x"),
                FileProblem::NotAnObject,
            ),
        ];
        for (path, expected) in table {
            assert_eq!(object(&path), Err(expected), "{}", path.display());
        }
        let marked = write("marked", "\u{feff}{\"a\": 1}".as_bytes());
        assert_eq!(object(&marked).unwrap()["a"], 1);
    }
}
