//! Writing a stored session where the CLI can resume it.

use std::fs::{self, Permissions};
use std::future::Future;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use falconer_protocol::SessionId;
use serde_json::Value;
use tempfile::TempDir;

use super::contract::SessionStore;
use super::entry::SessionStoreEntry;
use super::key::SessionKey;
use super::seed;
use super::stored::split_metadata;
use crate::error::SessionError;
use crate::private_file::write_private;
use crate::sessions::metadata_path;
use crate::store_error::SessionStoreError;

/// Settings for writing a stored session to disk.
#[derive(Debug, Clone)]
#[must_use]
pub struct MaterializeOptions {
    load_timeout: Duration,
    seed: Option<PathBuf>,
    parent: Option<PathBuf>,
}

impl Default for MaterializeOptions {
    fn default() -> Self {
        Self {
            load_timeout: Duration::from_secs(60),
            seed: None,
            parent: None,
        }
    }
}

impl MaterializeOptions {
    /// The defaults: 60 s for each call of the store, and no credentials.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limit on each call of the store.
    pub fn load_timeout(mut self, timeout: Duration) -> Self {
        self.load_timeout = timeout;
        self
    }

    /// Takes login and user settings over from another configuration directory.
    ///
    /// The refresh token stays behind: it can be used once, and what the resumed CLI gets for
    /// it would be lost with the directory. So do plugins, which it would install anew.
    pub fn seed_from(mut self, config_dir: impl Into<PathBuf>) -> Self {
        self.seed = Some(config_dir.into());
        self
    }

    /// Makes the directory in this one. Default: the system's one for temporary files.
    pub fn below(mut self, parent: impl Into<PathBuf>) -> Self {
        self.parent = Some(parent.into());
        self
    }
}

/// A configuration directory with one session in it; removed when dropped.
#[derive(Debug)]
#[must_use]
pub struct Materialized {
    directory: TempDir,
    session_id: SessionId,
}

impl Materialized {
    /// Returns the value for `CLAUDE_CONFIG_DIR`.
    pub fn config_dir(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the directory of the transcripts, for
    /// [`MirrorOptions::new`](super::MirrorOptions::new).
    pub fn projects_dir(&self) -> PathBuf {
        self.directory.path().join("projects")
    }

    /// Returns the value for `--resume`.
    pub fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    /// Moves the session into another configuration directory on the same disk, in which there
    /// is none yet.
    pub fn move_into(self, config_dir: &Path) -> Result<(), SessionError> {
        let to = config_dir.join("projects");
        fs::rename(self.projects_dir(), &to).map_err(SessionError::io("write", &to))?;
        self.close()
    }

    /// Removes the directory and says if that fails.
    pub fn close(self) -> Result<(), SessionError> {
        let path = self.directory.path().to_path_buf();
        self.directory
            .close()
            .map_err(SessionError::io("remove", &path))
    }
}

/// Loads a session from a store into a new private directory, sub-agents included.
///
/// The project key has to be the one of the working directory in which the CLI will run, as
/// [`project_key`](crate::sessions::project_key) computes it. If anything fails, nothing is
/// left on disk.
pub async fn materialize(
    store: &dyn SessionStore,
    key: &SessionKey,
    options: &MaterializeOptions,
) -> Result<Materialized, SessionError> {
    let key = key.main();
    key.check_paths()?;
    let loaded = in_time(options, "load", store.load(&key)).await?;
    let entries = loaded.filter(|entries| !entries.is_empty());
    let entries = entries.ok_or_else(|| SessionError::NotFound {
        id: key.session_id.to_string(),
        searched: vec![PathBuf::from(format!("session store: {key}"))],
    })?;
    let directory = private_dir(options.parent.as_deref())?;
    let project = directory.path().join("projects").join(&key.project_key);
    let session_dir = project.join(key.session_id.as_str());
    write_transcript(session_dir.with_extension("jsonl"), entries).await?;
    if store.capabilities().list_subkeys {
        let subkeys = in_time(options, "list sub-agents", store.list_subkeys(&key)).await?;
        for subkey in subkeys {
            let key = key.with_subpath(subkey);
            key.check_paths()?;
            let loaded = in_time(options, "load", store.load(&key)).await?;
            write_subagent(&session_dir, &key, loaded.unwrap_or_default()).await?;
        }
    }
    if let Some(source) = &options.seed {
        seed::copy(source, directory.path())?;
    }
    Ok(Materialized {
        directory,
        session_id: key.session_id,
    })
}

async fn in_time<T>(
    options: &MaterializeOptions,
    doing: &'static str,
    call: impl Future<Output = Result<T, SessionStoreError>>,
) -> Result<T, SessionStoreError> {
    let after = options.load_timeout;
    let answer = tokio::time::timeout(after, call).await;
    answer.unwrap_or(Err(SessionStoreError::Timeout { doing, after }))
}

fn private_dir(parent: Option<&Path>) -> Result<TempDir, SessionError> {
    let mut builder = tempfile::Builder::new();
    builder
        .prefix("falconer-resume-")
        .permissions(Permissions::from_mode(0o700));
    let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
    builder
        .tempdir_in(&parent)
        .map_err(SessionError::io("create a directory in", &parent))
}

/// Writes a sub-agent's transcript and the metadata file beside it.
async fn write_subagent(
    session_dir: &Path,
    key: &SessionKey,
    entries: Vec<SessionStoreEntry>,
) -> Result<(), SessionError> {
    let subpath = key.subpath.as_deref().unwrap_or_default();
    let file = session_dir.join(format!("{subpath}.jsonl"));
    let (metadata, transcript) = split_metadata(entries);
    if let Some(Value::Object(mut fields)) = metadata.map(|entry| entry.to_value()) {
        fields.shift_remove("type");
        let text = Value::Object(fields).to_string();
        write_private(&metadata_path(&file), &mut |out| {
            out.write_all(text.as_bytes())
        })?;
    }
    if transcript.is_empty() {
        return Ok(());
    }
    write_transcript(file, transcript).await
}

async fn write_transcript(
    file: PathBuf,
    entries: Vec<SessionStoreEntry>,
) -> Result<(), SessionError> {
    let path = file.clone();
    let written = tokio::task::spawn_blocking(move || {
        write_private(&file, &mut |out| {
            entries
                .iter()
                .try_for_each(|entry| writeln!(out, "{}", entry.as_json()))
        })
    });
    written
        .await
        .map_err(|error| SessionError::io("write", &path)(std::io::Error::other(error)))?
}
