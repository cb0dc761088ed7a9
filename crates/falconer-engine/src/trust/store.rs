//! The user's trust, kept in Falconer's state directory: one file for each project.
//!
//! The files say which content was trusted, by digests; they hold nothing of the content itself.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use falconer_secret::Environment;
use serde::{Deserialize, Serialize};

use super::inspection::Inspection;

/// A file of ours is never this large.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// Entries of one project that the user has made; the oldest are forgotten.
const MAX_OWN: usize = 4096;

/// The trust of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    directory: PathBuf,
}

/// What is trusted of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// The real path of the project.
    pub project: PathBuf,
    /// The digest of the content that was trusted.
    #[serde(default)]
    pub digest: Option<String>,
    /// When it was trusted, in seconds since 1970.
    #[serde(default)]
    pub granted_at: u64,
    /// The items of that content.
    #[serde(default)]
    pub items: Vec<GrantedItem>,
    /// Digests of items that Falconer wrote into the project's files for the user.
    #[serde(default)]
    pub own: Vec<String>,
}

/// An item that was trusted, for telling what has changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GrantedItem {
    /// The file it was in.
    pub file: String,
    /// Its key there.
    pub key: String,
    /// Its digest.
    pub digest: String,
}

/// Why trust cannot be looked up or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// A file cannot be read or written.
    #[error("failed to {what} {}: {error}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        error: std::io::Error,
    },
    /// Somebody else could have written it.
    #[error("refused to use {}: it belongs to somebody else, or others may write there", .0.display())]
    Foreign(PathBuf),
    /// A file is damaged.
    #[error("failed to read {}: {error}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// The content is not what was shown.
    #[error("the project now holds other content than the one that was shown")]
    Changed,
}

impl Grant {
    pub(crate) fn own(&self) -> HashSet<String> {
        self.own.iter().cloned().collect()
    }
}

impl TrustStore {
    /// The trust that is kept below a state directory.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self {
            directory: state.join("trust"),
        }
    }

    /// The trust of the user whom an environment belongs to; none without a home.
    pub(crate) fn of(environment: &Environment) -> Option<Self> {
        let variables = environment.snapshot();
        let state = state_directory(|name| variables.get(OsStr::new(name)).cloned());
        state.map(|state| Self::new(&state))
    }

    /// What is trusted of a project.
    ///
    /// # Errors
    /// If the file is there and cannot be used; then nothing is trusted.
    pub fn grant_of(&self, project: &Path) -> Result<Option<Grant>, TrustError> {
        let Ok(project) = std::fs::canonicalize(project) else {
            return Ok(None);
        };
        let grant = self.read(&self.file(&project))?;
        // Two paths never share a file, unless somebody copied one.
        Ok(grant.filter(|grant| grant.project == project))
    }

    /// Remembers that the content of an inspection is trusted, if the project still holds it.
    ///
    /// # Errors
    /// [`TrustError::Changed`] if the digest is not that of the inspection, otherwise if nothing
    /// can be written.
    pub fn grant(&self, inspection: &Inspection, digest: &str) -> Result<(), TrustError> {
        if inspection.digest.as_deref() != Some(digest) {
            return Err(TrustError::Changed);
        }
        self.change(&inspection.project, |grant| {
            grant.digest = Some(digest.to_owned());
            grant.granted_at = now();
            grant.items = inspection.items.iter().map(|it| it.granted()).collect();
        })
    }

    /// Forgets everything about a project. Returns `false` if nothing was known.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn revoke(&self, project: &Path) -> Result<bool, TrustError> {
        // A project that is gone can be forgotten, too.
        let project = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        let path = self.file(&project);
        if !self.is_there()? {
            return Ok(false);
        }
        let _lock = self.lock()?;
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(io("remove", &path)(error)),
        }
    }

    /// Everything that is trusted, by path.
    ///
    /// # Errors
    /// If the directory or a file in it cannot be used.
    pub fn list(&self) -> Result<Vec<Grant>, TrustError> {
        if !self.is_there()? {
            return Ok(Vec::new());
        }
        let entries = std::fs::read_dir(&self.directory);
        let entries = entries.map_err(io("list", &self.directory))?;
        let mut grants = Vec::new();
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|it| it == "json") {
                grants.extend(self.read(&path)?);
            }
        }
        grants.sort_by(|a, b| a.project.cmp(&b.project));
        Ok(grants)
    }

    /// Remembers items that were written for the user.
    pub(crate) fn remember_own(&self, project: &Path, own: &[String]) -> Result<(), TrustError> {
        let project = std::fs::canonicalize(project).map_err(io("find", project))?;
        self.change(&project, |grant| {
            grant.own.retain(|known| !own.contains(known));
            grant.own.extend_from_slice(own);
            let surplus = grant.own.len().saturating_sub(MAX_OWN);
            grant.own.drain(..surplus);
        })
    }

    fn change(&self, project: &Path, make: impl FnOnce(&mut Grant)) -> Result<(), TrustError> {
        self.make_directory()?;
        let _lock = self.lock()?;
        let path = self.file(project);
        let mut grant = self.read(&path)?.unwrap_or_default();
        project.clone_into(&mut grant.project);
        make(&mut grant);
        let text = serde_json::to_vec_pretty(&grant).map_err(|error| TrustError::Damaged {
            path: path.clone(),
            error,
        })?;
        let failed = io("write", &path);
        // Such files are made for their owner only.
        let mut file = tempfile::NamedTempFile::new_in(&self.directory).map_err(&failed)?;
        file.write_all(&text).map_err(&failed)?;
        file.as_file().sync_all().map_err(&failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    fn file(&self, project: &Path) -> PathBuf {
        let hash = blake3::hash(project.as_os_str().as_encoded_bytes());
        self.directory.join(format!("{hash}.json"))
    }

    fn read(&self, path: &Path) -> Result<Option<Grant>, TrustError> {
        use std::io::Read as _;
        if !self.is_there()? {
            return Ok(None);
        }
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io("read", path)(error)),
        };
        let metadata = file.metadata().map_err(io("read", path))?;
        if !metadata.is_file() || !is_ours(&metadata) {
            return Err(TrustError::Foreign(path.to_owned()));
        }
        let mut text = Vec::new();
        let read = file.take(MAX_FILE).read_to_end(&mut text);
        read.map_err(io("read", path))?;
        let grant = serde_json::from_slice(&text);
        grant.map(Some).map_err(|error| TrustError::Damaged {
            path: path.to_owned(),
            error,
        })
    }

    /// Whether the directory is there, and ours.
    fn is_there(&self) -> Result<bool, TrustError> {
        match std::fs::symlink_metadata(&self.directory) {
            Ok(metadata) if metadata.is_dir() && is_ours(&metadata) => Ok(true),
            Ok(_) => Err(TrustError::Foreign(self.directory.clone())),
            Err(error) if is_missing(&error) => Ok(false),
            Err(error) => Err(io("look at", &self.directory)(error)),
        }
    }

    fn make_directory(&self) -> Result<(), TrustError> {
        let mut builder = std::fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(&self.directory);
        made.map_err(io("make", &self.directory))?;
        self.is_there().map(|_| ())
    }

    /// Held while a file is changed.
    fn lock(&self) -> Result<std::fs::File, TrustError> {
        let path = self.directory.join("lock");
        let mut options = std::fs::OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(&path).map_err(io("open", &path))?;
        file.lock().map_err(io("lock", &path))?;
        Ok(file)
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// Whether nobody else could have written it.
fn is_ours(metadata: &std::fs::Metadata) -> bool {
    let us = rustix::process::geteuid().as_raw();
    metadata.uid() == us && metadata.mode() & 0o022 == 0
}

fn io(what: &'static str, path: &Path) -> impl Fn(std::io::Error) -> TrustError {
    let path = path.to_owned();
    move |error| TrustError::Io {
        what,
        path: path.clone(),
        error,
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Where Falconer keeps the state of a machine: `$FALCONER_STATE_DIR`, else as the platform
/// has it. None without a home directory.
pub fn state_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| {
        let value = variable(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    if let Some(named) = path("FALCONER_STATE_DIR") {
        return Some(named);
    }
    if cfg!(target_os = "macos") {
        let home = path("HOME")?;
        return Some(home.join("Library/Application Support/falconer/state"));
    }
    if cfg!(windows) {
        return path("LOCALAPPDATA").map(|data| data.join("falconer"));
    }
    let base = path("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let base = base.or_else(|| path("HOME").map(|home| home.join(".local/state")));
    base.map(|base| base.join("falconer"))
}
