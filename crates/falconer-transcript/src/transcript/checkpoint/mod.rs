//! Copies of files before their first change after each prompt, and the way back to them.
//!
//! Only what the file tools change is known; what shell commands do is not. The conversation
//! stays as it is. Everything is in one directory per session below `file-history`: a journal
//! and the copies, named after their contents. So it survives a resume, and an idle session
//! holds nothing in memory.

mod copies;
mod journal;
mod restore;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use falconer_protocol::MessageUuid;
use falconer_protocol::control::RewindResponse;
use falconer_secret::Environment;

use super::place::SessionPlace;
use crate::private_file::create_private_dir;
use copies::Copies;
use journal::{Journal, Record};

/// The switch that the SDKs set.
const SWITCH: &str = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING";

/// The checkpoints of a session. The default keeps none.
#[derive(Debug, Default)]
pub struct Checkpoints {
    state: Option<Mutex<State>>,
}

/// Whether files are put back, or it is only said what would happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewind {
    Preview,
    Restore,
}

/// Why there is no way back. The texts are those the official SDKs know.
#[derive(Debug, thiserror::Error)]
pub enum RewindError {
    #[error("File rewinding is not enabled.")]
    Off,
    #[error("No file checkpoint found for this message.")]
    UnknownPrompt,
    #[error("failed to read the file checkpoints in {path}: {source}")]
    Unreadable { path: PathBuf, source: io::Error },
}

#[derive(Debug)]
struct State {
    directory: PathBuf,
    journal: Journal,
    copies: Copies,
    /// The newest prompt, and the files that were kept since.
    prompt: Option<MessageUuid>,
    kept: HashSet<PathBuf>,
}

impl Checkpoints {
    /// Those of a session, if they are switched on.
    pub fn open(environment: &Environment, directory: PathBuf) -> Self {
        if environment.is_on(SWITCH) {
            Self::on(directory)
        } else {
            Self::default()
        }
    }

    pub(super) fn on(directory: PathBuf) -> Self {
        Self {
            state: Some(Mutex::new(State {
                journal: Journal::new(&directory),
                copies: Copies::new(&directory),
                directory,
                prompt: None,
                kept: HashSet::new(),
            })),
        }
    }

    /// Where the checkpoints of a session are.
    pub fn directory(place: &SessionPlace, session: &falconer_protocol::SessionId) -> PathBuf {
        place.file_history(session)
    }

    /// Takes over the checkpoints of the session this one is a fork of.
    pub fn inherit(&self, from: &Path) -> io::Result<()> {
        match self.state() {
            Some(state) if from.is_dir() => {
                create_private_dir(&state.directory)?;
                link_all(from, &state.directory)
            }
            _ => Ok(()),
        }
    }

    /// Remembers that a prompt began, so that files can be put back to this moment.
    pub fn begin(&self, prompt: &MessageUuid) -> io::Result<()> {
        match self.state() {
            Some(mut state) => state.begin(prompt),
            None => Ok(()),
        }
    }

    /// Keeps a file as it is before a tool changes it. Must be called before every change.
    ///
    /// An error means that there is no copy: the change could not be undone.
    /// `real` is the same file without links in its directories.
    pub fn before_change(&self, prompt: &MessageUuid, path: &Path, real: &Path) -> io::Result<()> {
        match self.state() {
            Some(mut state) => state.keep(prompt, path, real),
            None => Ok(()),
        }
    }

    /// Puts files back to how they were when a prompt began, or says what that would change.
    pub fn rewind(
        &self,
        prompt: &MessageUuid,
        rewind: Rewind,
    ) -> Result<RewindResponse, RewindError> {
        let state = self.state().ok_or(RewindError::Off)?;
        let records = state.journal.read();
        let records = records.map_err(|source| RewindError::Unreadable {
            path: state.directory.clone(),
            source,
        })?;
        let targets = journal::targets(records, prompt).ok_or(RewindError::UnknownPrompt)?;
        Ok(match rewind {
            Rewind::Preview => restore::preview(&state.copies, &targets),
            Rewind::Restore => restore::restore(&state.copies, &targets),
        })
    }

    fn state(&self) -> Option<MutexGuard<'_, State>> {
        let state = self.state.as_ref()?;
        Some(state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn begin(&mut self, prompt: &MessageUuid) -> io::Result<()> {
        if self.prompt.as_ref() == Some(prompt) {
            return Ok(());
        }
        self.journal.append(&Record::Prompt(prompt.clone()))?;
        self.prompt = Some(prompt.clone());
        self.kept.clear();
        Ok(())
    }

    fn keep(&mut self, prompt: &MessageUuid, path: &Path, real: &Path) -> io::Result<()> {
        self.begin(prompt)?;
        if self.kept.contains(path) {
            return Ok(());
        }
        let kept = self.copies.keep(path, real)?;
        self.journal.append(&Record::File(kept))?;
        self.kept.insert(path.to_path_buf());
        Ok(())
    }
}

/// Gives every file a second name in another directory; the journal is copied, since it grows.
fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if !entry.file_type()?.is_file() || target.exists() {
            continue;
        }
        let is_journal = entry.file_name() == journal::FILE;
        if is_journal || std::fs::hard_link(entry.path(), &target).is_err() {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
