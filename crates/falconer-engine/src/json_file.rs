//! JSON files that people edit by hand.

use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::Value;

/// A settings file larger than this is not read.
const MAX_FILE: u64 = 4 * 1024 * 1024;

const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// Why a file is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it is larger than {MAX_FILE} bytes")]
    TooLarge,
    #[error("it is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("it holds no JSON object")]
    NoObject,
}

/// The object in a file; `None` if there is no such file or it is empty.
pub(crate) fn read_object(path: &Path) -> Result<Option<Value>, ReadError> {
    let mut options = std::fs::OpenOptions::new();
    // A FIFO must not block; what is judged is what is read.
    options.read(true).custom_flags(NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        // A file where a directory should be: there are no settings below it.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        return Err(ReadError::NotAFile);
    }
    let mut text = String::new();
    file.take(MAX_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE {
        return Err(ReadError::TooLarge);
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(None);
    }
    match serde_json::from_str(text)? {
        value @ Value::Object(_) => Ok(Some(value)),
        _ => Err(ReadError::NoObject),
    }
}
