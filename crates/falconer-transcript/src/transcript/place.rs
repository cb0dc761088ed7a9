//! Where sessions are: one directory per project below the configuration directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use falconer_protocol::SessionId;
use falconer_secret::Environment;

use crate::id::is_uuid;
use crate::project_key::project_key;

/// The configuration directory: `CLAUDE_CONFIG_DIR`, or `.claude` in the home directory.
pub fn config_dir(environment: &Environment) -> Option<PathBuf> {
    let own = environment.text("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    own.or_else(|| Some(environment.home()?.join(".claude")))
}

/// The sessions of one working directory.
#[derive(Debug, Clone)]
pub struct SessionPlace {
    config_dir: PathBuf,
    project_dir: PathBuf,
}

impl SessionPlace {
    /// Returns the place of the sessions of a working directory.
    pub fn new(config_dir: &Path, cwd: &Path) -> Self {
        let projects = config_dir.join("projects");
        Self {
            project_dir: projects.join(project_key(cwd)),
            config_dir: config_dir.to_path_buf(),
        }
    }

    /// The transcript that a new session with this id gets.
    pub(super) fn file(&self, id: &SessionId) -> PathBuf {
        self.project_dir.join(format!("{}.jsonl", id.as_str()))
    }

    /// Where the copies of changed files of a session are kept.
    pub fn file_history(&self, id: &SessionId) -> PathBuf {
        self.config_dir.join("file-history").join(id.as_str())
    }

    /// The transcript of a session: of this project, or else of any other.
    ///
    /// An id that is no UUID names no session; it never becomes part of a path.
    pub(super) fn find(&self, id: &SessionId) -> Option<PathBuf> {
        if !is_uuid(id.as_str()) {
            return None;
        }
        let here = self.file(id);
        if here.is_file() {
            return Some(here);
        }
        let projects = fs::read_dir(self.config_dir.join("projects")).ok()?;
        let name = format!("{}.jsonl", id.as_str());
        let mut files = projects.flatten().map(|project| project.path().join(&name));
        files.find(|file| file.is_file())
    }

    /// The transcripts of this project, the one that was changed last first.
    pub(super) fn newest_first(&self) -> Vec<(SessionId, PathBuf)> {
        let Ok(entries) = fs::read_dir(&self.project_dir) else {
            return Vec::new();
        };
        let mut found: Vec<(SystemTime, SessionId, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let path = entry.path();
                let id = session_of(&path)?;
                let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((meta.modified().ok()?, id, path))
            })
            .collect();
        found.sort_by(|a, b| b.cmp(a));
        found.into_iter().map(|(_, id, path)| (id, path)).collect()
    }
}

/// The session whose transcript a file is.
fn session_of(path: &Path) -> Option<SessionId> {
    if path.extension()? != "jsonl" {
        return None;
    }
    let id = SessionId::new(path.file_stem()?.to_str()?);
    is_uuid(id.as_str()).then_some(id)
}
