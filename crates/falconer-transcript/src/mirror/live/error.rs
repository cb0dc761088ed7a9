//! What did not reach the store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use falconer_protocol::{SessionId, system};
use serde_json::Value;

use super::frame::Frame;
use crate::id::new_uuid;
use crate::mirror::{SessionKey, SessionStoreError};

/// Something the mirror could not write. The transcript on disk is not affected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MirrorError {
    /// The store refused a batch, which is given up.
    #[error(
        "{entries} entries of {key} are not in the session store after {attempts} attempts: {source}"
    )]
    Append {
        /// The transcript.
        key: SessionKey,
        /// How many entries were in the batch.
        entries: usize,
        /// How often it was tried.
        attempts: u32,
        /// What the store said last.
        source: SessionStoreError,
    },
    /// The store was too slow and the queue was full.
    #[error("the session store is too slow: {frames} frames ({bytes} bytes) {}were not mirrored", of_key(.key))]
    Overflow {
        /// The transcript, if the frame said so.
        key: Option<SessionKey>,
        /// How many frames were lost.
        frames: u64,
        /// How many bytes they had.
        bytes: u64,
    },
    /// The engine writes its transcripts somewhere else than the mirror was told.
    #[error(
        "cannot mirror {}: it is not below {}; the engine runs with another CLAUDE_CONFIG_DIR",
        file.display(), projects_dir.display()
    )]
    OutsideProjects {
        /// The transcript's file.
        file: PathBuf,
        /// Where it was expected.
        projects_dir: PathBuf,
    },
    /// The engine sent a frame that cannot be read.
    #[error("cannot read a transcript_mirror frame: {reason}")]
    BadFrame {
        /// What is wrong with it.
        reason: String,
    },
    /// The mirror's task is gone, because the store panicked or the runtime is ending.
    #[error("the session mirror has stopped")]
    Stopped,
}

impl MirrorError {
    /// The transcript it is about, if known.
    pub fn key(&self) -> Option<&SessionKey> {
        match self {
            Self::Append { key, .. } => Some(key),
            Self::Overflow { key, .. } => key.as_ref(),
            Self::OutsideProjects { .. } | Self::BadFrame { .. } | Self::Stopped => None,
        }
    }

    /// The `mirror_error` system message of the official SDKs for the message stream.
    pub fn to_message(&self, session_id: &str) -> Value {
        let key = match self.key() {
            Some(key) => system::MirrorKey {
                project_key: key.project_key.clone(),
                session_id: key.session_id.clone(),
                subpath: key.subpath.clone(),
                ..system::MirrorKey::default()
            },
            None => system::MirrorKey {
                session_id: SessionId::new(session_id),
                ..system::MirrorKey::default()
            },
        };
        let message = system::MirrorError {
            error: self.to_string(),
            key: Some(key),
            uuid: Some(new_uuid()),
            session_id: Some(SessionId::new(session_id)),
            ..system::MirrorError::default()
        };
        serde_json::to_value(message).unwrap_or_default()
    }
}

fn of_key(key: &Option<SessionKey>) -> String {
    match key {
        Some(key) => format!("of {key} "),
        None => String::new(),
    }
}

/// Frames that found the queue full, until the next flush reports them.
#[derive(Debug, Default)]
pub(crate) struct Losses(Mutex<BTreeMap<Option<SessionKey>, (u64, u64)>>);

impl Losses {
    pub(crate) fn add(&self, raw_frame: &[u8], projects_dir: &Path) {
        let key = Frame::decode(raw_frame, projects_dir)
            .ok()
            .map(|frame| frame.key);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (frames, bytes) = all.entry(key).or_default();
        *frames += 1;
        *bytes += raw_frame.len() as u64;
    }

    pub(crate) fn take(&self) -> impl Iterator<Item = MirrorError> {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        all.into_iter()
            .map(|(key, (frames, bytes))| MirrorError::Overflow { key, frames, bytes })
    }
}
