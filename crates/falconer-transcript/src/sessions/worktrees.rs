//! The worktrees of the git repository around a directory.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::entries;
use crate::git::Repository;

/// The worktrees of the repository around `directory`; empty outside of one.
pub(crate) fn worktrees(directory: &Path) -> Vec<PathBuf> {
    let Some(repository) = Repository::around(directory) else {
        return Vec::new();
    };
    let common = common_dir(&repository.git_dir);
    let mut found = vec![main_worktree(&common).unwrap_or(repository.top)];
    let mut linked: Vec<PathBuf> = entries(&common.join("worktrees"))
        .iter()
        .filter_map(|entry| linked_worktree(entry))
        .collect();
    linked.sort();
    found.append(&mut linked);
    found
}

/// The directory all worktrees of a repository share.
fn common_dir(git_dir: &Path) -> PathBuf {
    match fs::read_to_string(git_dir.join("commondir")) {
        Ok(text) => {
            let common = git_dir.join(text.trim());
            fs::canonicalize(&common).unwrap_or(common)
        }
        Err(_) => git_dir.to_path_buf(),
    }
}

fn main_worktree(common: &Path) -> Option<PathBuf> {
    (common.file_name()? == ".git").then(|| common.parent().map(Path::to_path_buf))?
}

/// The worktree that an entry of `.git/worktrees` stands for.
fn linked_worktree(entry: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(entry.join("gitdir")).ok()?;
    let dot_git = entry.join(text.trim());
    dot_git.parent().map(Path::to_path_buf)
}
