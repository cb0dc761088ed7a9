//! The worktrees of the git repository around a directory, read from git's own files.
//!
//! Reading them takes no process and no time limit, and works without git installed.

use std::fs;
use std::path::{Path, PathBuf};

/// The worktrees of the repository around `directory`; empty outside of one.
pub(crate) fn worktrees(directory: &Path) -> Vec<PathBuf> {
    let Some((top, git_dir)) = enclosing_repository(directory) else {
        return Vec::new();
    };
    let common = common_dir(&git_dir);
    let mut found = vec![main_worktree(&common).unwrap_or(top)];
    let mut linked: Vec<PathBuf> = super::files::entries(&common.join("worktrees"))
        .iter()
        .filter_map(|entry| linked_worktree(entry))
        .collect();
    linked.sort();
    found.append(&mut linked);
    found
}

/// The directory that has a `.git`, and what that stands for.
fn enclosing_repository(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    directory.ancestors().find_map(|top| {
        let dot_git = top.join(".git");
        if dot_git.is_dir() {
            return Some((top.to_path_buf(), dot_git));
        }
        let text = fs::read_to_string(&dot_git).ok()?;
        let target = text.strip_prefix("gitdir:")?.trim();
        Some((top.to_path_buf(), top.join(target)))
    })
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
