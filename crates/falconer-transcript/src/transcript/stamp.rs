//! What every entry of the conversation says about where it was written.

use std::fs;
use std::path::{Path, PathBuf};

use falconer_protocol::{Object, SessionId};
use falconer_secret::Environment;
use falconer_secret::Redactor;
use jiff::Timestamp;
use serde_json::json;

/// The fields that are the same for all entries of a run.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// The version of the engine, as it is reported to the host.
    pub version: String,
    /// How the engine was started.
    pub entrypoint: String,
    /// Where the session works.
    pub cwd: PathBuf,
    git_branch: String,
    /// Takes secrets out of what is written.
    pub(super) redactor: Redactor,
}

impl Stamp {
    pub fn new(version: &str, environment: &Environment, cwd: &Path) -> Self {
        let entrypoint = environment.text("CLAUDE_CODE_ENTRYPOINT");
        Self {
            version: version.to_owned(),
            entrypoint: entrypoint.unwrap_or_else(|| "sdk-cli".to_owned()),
            cwd: cwd.to_path_buf(),
            git_branch: git_branch(cwd),
            redactor: environment.redactor().clone(),
        }
    }

    /// Looks at the branch again; it may have changed since the last prompt.
    pub(super) fn refresh(&mut self) {
        self.git_branch = git_branch(&self.cwd);
    }

    /// Adds the fields at the end of an entry.
    pub(super) fn add_to(&self, entry: &mut Object, session: &SessionId) {
        entry.insert("userType".to_owned(), json!("external"));
        entry.insert("entrypoint".to_owned(), json!(self.entrypoint));
        entry.insert("cwd".to_owned(), json!(self.cwd.to_string_lossy()));
        entry.insert("sessionId".to_owned(), json!(session));
        entry.insert("version".to_owned(), json!(self.version));
        entry.insert("gitBranch".to_owned(), json!(self.git_branch));
    }
}

/// The time as transcripts write it: UTC with milliseconds.
pub(super) fn now() -> String {
    format!("{:.3}", Timestamp::now())
}

/// The branch that is checked out around a directory; `HEAD` if there is none, or an odd one.
fn git_branch(directory: &Path) -> String {
    let head = directory
        .ancestors()
        .find_map(|top| git_dir(&top.join(".git")))
        // `HEAD` names a branch that does not exist there.
        .filter(|git| !git.join("reftable").exists())
        .and_then(|git| fs::read_to_string(git.join("HEAD")).ok());
    let branch = head.as_deref().and_then(|head| {
        let name = head.trim().strip_prefix("ref: refs/heads/")?;
        is_plain(name).then(|| name.to_owned())
    });
    branch.unwrap_or_else(|| "HEAD".to_owned())
}

/// Whether the official CLI shows a branch under its name.
fn is_plain(name: &str) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || "._/+@-".contains(c);
    let is_path = !["", ".", ".."]
        .iter()
        .any(|part| name.split('/').any(|it| it == *part));
    let has_odd_parts = name.starts_with('-') || name.contains("..");
    name.chars().all(is_known) && is_path && !has_odd_parts
}

/// What a `.git` stands for: a directory, or a file that names one (worktrees).
fn git_dir(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_path_buf());
    }
    let text = fs::read_to_string(dot_git).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim();
    Some(dot_git.parent()?.join(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_read_from_repositories_and_worktrees() {
        let dir = tempfile::tempdir().expect("temp dir");
        let top = dir.path();
        assert_eq!(git_branch(top), "HEAD");
        fs::create_dir_all(top.join("r/.git/worktrees/w")).expect("created");
        fs::write(top.join("r/.git/HEAD"), "ref: refs/heads/feature/x\n").expect("written");
        fs::create_dir_all(top.join("r/deep/er")).expect("created");
        assert_eq!(git_branch(&top.join("r/deep/er")), "feature/x");
        fs::create_dir(top.join("w")).expect("created");
        fs::write(top.join("w/.git"), "gitdir: ../r/.git/worktrees/w\n").expect("written");
        fs::write(top.join("r/.git/worktrees/w/HEAD"), "0123abcd\n").expect("written");
        assert_eq!(git_branch(&top.join("w")), "HEAD");
    }

    /// As measured on the official CLI.
    #[test]
    fn a_branch_with_an_odd_name_is_not_named() {
        for name in [
            ".x",
            "a/.b",
            "a@b",
            "a+b",
            "@",
            "x.lock",
            "A_1.2-z",
            "feature/y",
        ] {
            assert!(is_plain(name), "{name}");
        }
        let odd = [
            "a;b", "ü", "a#b", "a=b", "-x", "a..b", "a b", "x/", "/x", "a//b", "a(b", "",
        ];
        for name in odd {
            assert!(!is_plain(name), "{name}");
        }
    }
}
