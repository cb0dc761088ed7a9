//! The mark that a session is archived: a small file beside the transcript.

use std::fs;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::prompt::{UserEntry, may_be_prompt};
use super::scan;
use crate::error::SessionError;
use crate::time::{now, parse_time};

const FILE: &str = "archived.json";

/// Whether a session is archived, and since when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArchiveMark {
    pub(crate) archived: bool,
    pub(crate) at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct Mark<'a> {
    archived: bool,
    #[serde(borrow)]
    at: std::borrow::Cow<'a, str>,
    #[serde(default)]
    by: std::borrow::Cow<'a, str>,
}

/// The mark in a session's directory; none if there is no readable one.
pub(crate) fn read(session_dir: &Path) -> Option<ArchiveMark> {
    let text = fs::read_to_string(session_dir.join(FILE)).ok()?;
    let mark: Mark<'_> = serde_json::from_str(&text).ok()?;
    Some(ArchiveMark {
        archived: mark.archived,
        at: parse_time(&mark.at)?,
    })
}

/// Writes the mark, replacing an older one in one step.
pub(crate) fn write(session_dir: &Path, archived: bool) -> Result<(), SessionError> {
    fs::create_dir_all(session_dir).map_err(SessionError::io("create", session_dir))?;
    let path = session_dir.join(FILE);
    let failed = || SessionError::io("write", &path);
    let at = now();
    let mark = Mark {
        archived,
        at: at.into(),
        by: "falconer".into(),
    };
    let mut file = tempfile::NamedTempFile::new_in(session_dir).map_err(failed())?;
    let text = serde_json::to_vec(&mark).map_err(|error| failed()(error.into()))?;
    file.write_all(&text).map_err(failed())?;
    file.persist(&path).map_err(|error| failed()(error.error))?;
    Ok(())
}

/// Whether a person asked something after `at`: that takes a session out of the archive.
pub(crate) fn prompted_since(at: Timestamp, tail: &[u8]) -> bool {
    scan::lines(tail)
        .filter(|line| may_be_prompt(line))
        .filter_map(scan::decode::<UserEntry<'_>>)
        .filter(UserEntry::is_user)
        .any(|entry| {
            let time = entry.timestamp.as_deref().and_then(parse_time);
            time.is_some_and(|time| time > at)
        })
}
