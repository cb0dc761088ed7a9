//! A trusted item and the files it names, for the time after the check: an agent must not change
//! what somebody trusted and have it run.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::item::Item;
use super::script::scripts;

/// What was trusted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seal {
    project: PathBuf,
    key: String,
    value: Value,
    /// Paths and digests.
    files: Vec<(String, String)>,
}

impl Seal {
    pub(super) fn new(project: &Path, item: &Item) -> Self {
        let files = item.scripts.iter();
        Self {
            project: project.to_owned(),
            key: item.key.clone(),
            value: item.value.clone(),
            files: files
                .map(|it| (it.path.clone(), it.digest.clone()))
                .collect(),
        }
    }

    /// Where the value was, such as `mcpServers.name`.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// The value that was trusted.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// The files that must not change unasked.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.files.iter().map(|(path, _)| self.project.join(path))
    }

    /// Why the item must not run in a directory now; none if everything is as it was trusted.
    pub(crate) fn broken(&self, cwd: &Path) -> Option<String> {
        let files_in = |directory: &Path| -> Option<Vec<(String, String)>> {
            let found = scripts(directory, &self.value)?;
            let found = found.into_iter();
            Some(found.map(|it| (it.path, it.digest)).collect())
        };
        let now = files_in(&self.project).unwrap_or_default();
        let mut all = self.files.iter().chain(&now);
        if let Some((path, _)) = all.find(|it| !now.contains(it) || !self.files.contains(it)) {
            return Some(format!("`{path}` has changed since it was trusted"));
        }
        let is_project = std::fs::canonicalize(cwd).is_ok_and(|it| it == self.project);
        if is_project {
            return None;
        }
        // The same words may mean other files there.
        let there = files_in(cwd).unwrap_or_default();
        let other = there.iter().find(|it| !self.files.contains(it))?;
        Some(format!(
            "in {} it would run another `{}`",
            cwd.display(),
            other.0
        ))
    }
}
