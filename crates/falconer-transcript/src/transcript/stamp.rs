//! What every entry of the conversation says about where it was written.

use std::fs;
use std::path::{Path, PathBuf};

use falconer_protocol::{Object, SessionId};
use falconer_secret::{Environment, Redactor};
use serde::Serialize;

use crate::git::Repository;
use crate::session_entry::object;

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
    /// Returns the stamp of a session that works in `cwd`.
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
    pub(super) fn add_to(&self, entry: &mut Object, session_id: &SessionId) {
        entry.extend(object(&Fields {
            user_type: "external",
            entrypoint: &self.entrypoint,
            cwd: &self.cwd.to_string_lossy(),
            session_id,
            version: &self.version,
            git_branch: &self.git_branch,
        }));
    }
}

/// The fields that every entry of the conversation ends with.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    user_type: &'a str,
    entrypoint: &'a str,
    cwd: &'a str,
    session_id: &'a SessionId,
    version: &'a str,
    git_branch: &'a str,
}

/// The branch that is checked out around a directory; `HEAD` if there is none, or an odd one.
fn git_branch(directory: &Path) -> String {
    let head = Repository::around(directory)
        .map(|repository| repository.git_dir)
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
