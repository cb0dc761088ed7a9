//! Decoding a `transcript_mirror` frame.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::MirrorError;
use crate::mirror::{SessionKey, SessionStoreEntry};

/// New lines of one transcript.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) key: SessionKey,
    pub(crate) entries: Vec<SessionStoreEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    #[serde(borrow)]
    file_path: Cow<'a, str>,
    #[serde(borrow, default)]
    entries: Vec<&'a RawValue>,
}

impl Frame {
    pub(crate) fn decode(raw: &[u8], projects_dir: &Path) -> Result<Self, MirrorError> {
        let bad = |reason: String| MirrorError::BadFrame { reason };
        let wire: Wire<'_> = serde_json::from_slice(raw).map_err(|error| bad(error.to_string()))?;
        let key = SessionKey::of_file(Path::new(wire.file_path.as_ref()), projects_dir);
        let key = key.ok_or_else(|| MirrorError::OutsideProjects {
            file: wire.file_path.as_ref().into(),
            projects_dir: projects_dir.to_path_buf(),
        })?;
        let entries: Result<Vec<SessionStoreEntry>, _> = wire
            .entries
            .into_iter()
            .map(|entry| SessionStoreEntry::from_raw(entry.to_owned()))
            .collect();
        let entries = entries.map_err(|error| bad(error.to_string()))?;
        Ok(Self { key, entries })
    }
}
