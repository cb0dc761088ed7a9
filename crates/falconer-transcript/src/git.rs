//! The git repository around a directory, read from git's own files.
//!
//! Reading them takes no process and no time limit, and works without git installed.

use std::fs;
use std::path::{Path, PathBuf};

/// A repository, or a worktree of one.
#[derive(Debug)]
pub(crate) struct Repository {
    /// The directory that has the `.git`.
    pub(crate) top: PathBuf,
    /// The directory that the `.git` is or names.
    pub(crate) git_dir: PathBuf,
}

impl Repository {
    /// Returns the innermost repository around a directory.
    pub(crate) fn around(directory: &Path) -> Option<Self> {
        directory.ancestors().find_map(|top| {
            let dot_git = top.join(".git");
            let git_dir = if dot_git.is_dir() {
                dot_git
            } else {
                let text = fs::read_to_string(&dot_git).ok()?;
                top.join(text.strip_prefix("gitdir:")?.trim())
            };
            Some(Self {
                top: top.to_path_buf(),
                git_dir,
            })
        })
    }
}
