//! A look at what a project brings along, for people who decide about it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::content::{Content, ProjectFile};
use super::item::{Item, ItemKind};
use super::script::Script;
use super::store::{GrantedItem, TrustError, TrustStore};
use crate::json_file::read_object;

/// What a project wants, and whether somebody trusts it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The real path of the project.
    pub project: PathBuf,
    /// Whether the content is trusted.
    pub standing: Standing,
    /// The digest of everything that needs trust; none if nothing does.
    pub digest: Option<String>,
    /// What needs trust.
    pub items: Vec<InspectedItem>,
    /// Items that were trusted and are gone or changed: file and key.
    pub gone: Vec<String>,
    /// Keys that no project may set, with their files. They are ignored, trusted or not.
    pub ignored: Vec<String>,
    /// Files that cannot be used.
    pub problems: Vec<String>,
}

/// Whether the content of a project is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Standing {
    /// Nothing needs trust.
    NotNeeded,
    /// This content is trusted.
    Trusted,
    /// Other content was trusted before.
    Changed,
    /// Nobody has trusted it.
    Untrusted,
}

impl Standing {
    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotNeeded => "not_needed",
            Self::Trusted => "trusted",
            Self::Changed => "changed",
            Self::Untrusted => "untrusted",
        }
    }
}

/// Something that needs trust, exactly as it would be used.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InspectedItem {
    /// What it does.
    pub kind: ItemKind,
    /// The file of the project that it is in.
    pub file: String,
    /// Its key there.
    pub key: String,
    /// Its value, as JSON.
    pub text: String,
    /// Files of the project that it names.
    pub scripts: Vec<Script>,
    /// Whether it was not in the content that was trusted before.
    pub is_new: bool,
    digest: String,
}

/// Why a project cannot be inspected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// There is no such directory.
    #[error("failed to find the project {}: {error}", path.display())]
    NoProject {
        /// The directory.
        path: PathBuf,
        /// Why it cannot be found.
        error: std::io::Error,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl InspectedItem {
    fn new(item: &Item, known: &HashSet<String>) -> Self {
        let digest = item.digest();
        Self {
            kind: item.kind,
            file: item.file.name().to_owned(),
            key: item.key.clone(),
            text: serde_json::to_string_pretty(&item.value).unwrap_or_default(),
            scripts: item.scripts.clone(),
            is_new: !known.contains(&digest),
            digest,
        }
    }

    pub(super) fn granted(&self) -> GrantedItem {
        GrantedItem {
            file: self.file.clone(),
            key: self.key.clone(),
            digest: self.digest.clone(),
        }
    }
}

/// Looks at a project. What is in the user's own configuration directory (`~/.claude`) is not the
/// project's.
///
/// # Errors
/// If there is no such project, or the store cannot be used.
pub fn inspect(
    project: &Path,
    store: &TrustStore,
    config_dir: Option<&Path>,
) -> Result<Inspection, InspectError> {
    let project = std::fs::canonicalize(project).map_err(|error| InspectError::NoProject {
        path: project.to_owned(),
        error,
    })?;
    let grant = store.grant_of(&project)?.unwrap_or_default();
    let mut problems = Vec::new();
    let [settings, local, servers] = ProjectFile::ALL.map(|file| {
        if file.is_users(&project, config_dir) {
            return None;
        }
        let path = project.join(file.name());
        read_object(&path).unwrap_or_else(|error| {
            problems.push(format!("{}: {error}", path.display()));
            None
        })
    });
    let content = Content::new(&project, settings, local, servers, config_dir);
    problems.extend(content.problem().map(ToOwned::to_owned));
    let own = grant.own();
    let digest = content.digest(&own);
    let standing = match (&digest, &grant.digest) {
        (None, _) => Standing::NotNeeded,
        (now, then) if now == then => Standing::Trusted,
        (Some(_), Some(_)) => Standing::Changed,
        (Some(_), None) => Standing::Untrusted,
    };
    let known: HashSet<String> = grant.items.iter().map(|it| it.digest.clone()).collect();
    let items = content.items().iter();
    let items: Vec<_> = items
        .map(|item| InspectedItem::new(item, &known))
        .filter(|item| !own.contains(&item.digest))
        .collect();
    let gone = grant.items.iter().filter(|then| {
        let mut now = items.iter();
        standing != Standing::NotNeeded && now.all(|item| item.digest != then.digest)
    });
    let gone = gone.map(|it| format!("{} {}", it.file, it.key)).collect();
    let ignored = content.never().iter();
    let ignored = ignored.map(|(file, key)| format!("{} {key}", file.name()));
    Ok(Inspection {
        standing,
        digest,
        gone,
        ignored: ignored.collect(),
        items,
        problems,
        project,
    })
}
