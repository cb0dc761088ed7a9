//! Which directories of the host a container may see.
//!
//! A file of the host lists the directories out of which something may be mounted. It has to lie
//! outside of all mounts, so that nobody inside can make the list longer. Mounts are read-only
//! unless both the list and the request say otherwise.
//!
//! ```json
//! {"roots": [{"path": "/srv/projects", "writable": true}, {"path": "/srv/docs"}],
//!  "blocked": ["private", "customers/raw"]}
//! ```

mod file;

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::account::FileProblem;

/// Names that are never mounted, nor anything below them; one with a slash is several names in
/// a row. Compared name by name, without regard to case.
const BLOCKED: [&str; 24] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    ".config/gcloud",
    ".config/gh",
    ".claude",
    ".claude.json",
    ".env",
    ".envrc",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".cargo/credentials.toml",
    "credentials",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "private_key",
];

/// What may be mounted, read from a file of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountAllowlist {
    /// The list itself, resolved.
    file: PathBuf,
    roots: Vec<Root>,
    blocked: Vec<String>,
}

/// A directory out of which something may be mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    path: PathBuf,
    most: MountAccess,
}

/// What a container may do with a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum MountAccess {
    /// Nothing but read.
    #[default]
    ReadOnly,
    /// Read and write.
    ReadWrite,
}

/// A directory or file of the host in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mount {
    /// On the host. Resolved, once it was checked.
    pub source: PathBuf,
    /// In the container.
    pub target: PathBuf,
    /// What may be done with it.
    pub access: MountAccess,
}

/// Why nothing is mounted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// Without a list nothing may be mounted.
    #[error("failed to read the list of what may be mounted, {}: {problem}", file.display())]
    File {
        /// The list.
        file: PathBuf,
        /// Why not.
        problem: FileProblem,
    },
    /// The list says something that nobody understands.
    #[error("the list of what may be mounted, {}, is wrong: {problem}", file.display())]
    List {
        /// The list.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A path does not exist or cannot be resolved.
    #[error("failed to resolve {} to mount it: {source}", path.display())]
    Unresolved {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A path that no line of the list covers.
    #[error("{} is not mounted: it is in no directory of the list {}", path.display(), file.display())]
    Unlisted {
        /// The path, resolved.
        path: PathBuf,
        /// The list.
        file: PathBuf,
    },
    /// A path with a name that is never mounted.
    #[error("{} is not mounted: `{name}` is blocked", path.display())]
    Blocked {
        /// The path.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// The list does not let it be written.
    #[error("{} is not mounted for writing: the list {} lets it be read only", path.display(), file.display())]
    ReadOnly {
        /// The path, resolved.
        path: PathBuf,
        /// The list.
        file: PathBuf,
    },
    /// The list would be seen inside.
    #[error("{} is not mounted: the list {} is in it", path.display(), file.display())]
    ListInside {
        /// The path, resolved.
        path: PathBuf,
        /// The list.
        file: PathBuf,
    },
    /// A place in the container that cannot be.
    #[error("nothing is mounted at {}: it {must}", target.display())]
    Target {
        /// The place.
        target: PathBuf,
        /// What is wrong with it.
        must: &'static str,
    },
}

impl Mount {
    /// A mount to be read.
    pub fn new(source: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Self {
        Self {
            source: source.into(),
            target: target.into(),
            access: MountAccess::ReadOnly,
        }
    }

    /// The same, to be written, too.
    #[must_use]
    pub fn writable(mut self) -> Self {
        self.access = MountAccess::ReadWrite;
        self
    }

    /// The value of `--mount` for `docker run` and `podman run`.
    ///
    /// # Errors
    ///
    /// [`MountError::Target`] if a path has a letter that such a value cannot hold.
    pub fn argument(&self) -> Result<String, MountError> {
        let text = |path: &Path| {
            let text = path
                .to_str()
                .filter(|text| !text.contains([',', '"']) && !text.contains(char::is_control));
            text.map(str::to_owned).ok_or_else(|| MountError::Target {
                target: path.to_owned(),
                must: "must be text without commas, quotes and control characters",
            })
        };
        let (source, target) = (text(&self.source)?, text(&self.target)?);
        let suffix = match self.access {
            MountAccess::ReadOnly => ",readonly",
            MountAccess::ReadWrite => "",
        };
        Ok(format!("type=bind,source={source},target={target}{suffix}"))
    }
}

impl MountAllowlist {
    /// The mounts with their sources resolved, if all of them may be made.
    ///
    /// # Errors
    ///
    /// [`MountError`] for the first that may not.
    pub fn check(&self, wanted: &[Mount]) -> Result<Vec<Mount>, MountError> {
        let mut checked: Vec<Mount> = Vec::new();
        for mount in wanted {
            check_target(&mount.target, &checked)?;
            checked.push(Mount {
                source: self.check_source(mount)?,
                ..mount.clone()
            });
        }
        Ok(checked)
    }

    fn check_source(&self, mount: &Mount) -> Result<PathBuf, MountError> {
        let resolved = mount.source.canonicalize();
        let path = resolved.map_err(|source| MountError::Unresolved {
            path: mount.source.clone(),
            source,
        })?;
        // Both as it is written and where it leads.
        for name in [&mount.source, &path] {
            self.check_names(name)?;
        }
        let file = self.file.clone();
        let covering = self
            .roots
            .iter()
            .filter(|root| path.starts_with(&root.path));
        let Some(most) = covering.map(|root| root.most).max() else {
            return Err(MountError::Unlisted { path, file });
        };
        if self.file.starts_with(&path) {
            return Err(MountError::ListInside { path, file });
        }
        if mount.access > most {
            return Err(MountError::ReadOnly { path, file });
        }
        Ok(path)
    }

    fn check_names(&self, path: &Path) -> Result<(), MountError> {
        let names: Vec<String> = path
            .components()
            .map(|name| plain(name.as_os_str()))
            .collect();
        let own = self.blocked.iter().map(String::as_str);
        for blocked in BLOCKED.into_iter().chain(own) {
            let parts: Vec<String> = blocked.split('/').map(str::to_lowercase).collect();
            if names.windows(parts.len()).any(|window| window == parts) {
                return Err(MountError::Blocked {
                    path: path.to_owned(),
                    name: blocked.to_owned(),
                });
            }
        }
        Ok(())
    }
}

fn plain(name: &OsStr) -> String {
    name.to_string_lossy().to_lowercase()
}

fn check_target(target: &Path, others: &[Mount]) -> Result<(), MountError> {
    let wrong = |must| {
        Err(MountError::Target {
            target: target.to_owned(),
            must,
        })
    };
    let is_plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    if !target.is_absolute() || !target.components().all(is_plain) {
        return wrong("must be absolute and without `..`");
    }
    if target.parent().is_none() {
        return wrong("is the root of the container");
    }
    // One below the other would let the second hide or widen the first.
    let is_nested =
        |other: &Mount| other.target.starts_with(target) || target.starts_with(&other.target);
    if others.iter().any(is_nested) {
        return wrong("is the place of another mount, or below or above it");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
