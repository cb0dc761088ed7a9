//! Tests of permissions.

mod cassettes;
mod commands;
mod gates;
mod hidden;
mod injection;
mod paths;
mod properties;
mod real_shell;
mod sensitive;
mod updates;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use falconer_protocol::Object;
use falconer_protocol::permission::PermissionMode;

use super::{
    Bypass, Effect, Locks, Permissions, Question, RuleSource, Start, Target, Verdict, WrittenRule,
};

/// A project in a directory of its own.
pub(super) struct Project {
    pub(super) root: tempfile::TempDir,
    pub(super) mode: PermissionMode,
    pub(super) rules: Vec<WrittenRule>,
    pub(super) locks: Locks,
    pub(super) path: Option<std::ffi::OsString>,
    made: OnceCell<Permissions>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Allow,
    Ask,
    Deny,
}

impl Project {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir_all(root.path().join("home/project/src")).expect("a directory");
        Self {
            root,
            mode: PermissionMode::Default,
            rules: Vec::new(),
            locks: Locks::Both,
            path: None,
            made: OnceCell::new(),
        }
    }

    pub(super) fn mode(mut self, mode: PermissionMode) -> Self {
        self.mode = mode;
        self.made = OnceCell::new();
        self
    }

    pub(super) fn allow(self, rule: &str) -> Self {
        self.rule(Effect::Allow, rule)
    }

    pub(super) fn deny(self, rule: &str) -> Self {
        self.rule(Effect::Deny, rule)
    }

    pub(super) fn ask(self, rule: &str) -> Self {
        self.rule(Effect::Ask, rule)
    }

    fn rule(mut self, behavior: Effect, text: &str) -> Self {
        self.made = OnceCell::new();
        self.rules.push(WrittenRule {
            text: text.to_owned(),
            behavior,
            source: RuleSource::CliArg,
        });
        self
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(super) fn cwd(&self) -> PathBuf {
        self.home().join("project")
    }

    pub(super) fn permissions(&self) -> Permissions {
        self.made.get_or_init(|| self.make()).clone()
    }

    fn make(&self) -> Permissions {
        Permissions::new(Start {
            rules: self.rules.clone(),
            mode: self.mode.clone(),
            cwd: self.cwd(),
            home: Some(self.home()),
            path: self.path.clone(),
            additional_directories: Vec::new(),
            readable: Vec::new(),
            bypass: Bypass::Unlocked,
            locks: self.locks,
        })
        .expect("permissions")
    }

    pub(super) fn judge(&self, tool: &str, target: &Target) -> Verdict {
        let cwd = self.cwd();
        let permissions = self.made.get_or_init(|| self.make());
        permissions.judge(&question(tool, target, &cwd))
    }

    pub(super) fn command(&self, command: &str) -> Outcome {
        outcome(&self.judge("Bash", &shell(command)))
    }

    pub(super) fn read(&self, path: &str) -> Outcome {
        outcome(&self.judge("Read", &Target::Read(self.cwd().join(path))))
    }

    pub(super) fn write(&self, path: &str) -> Outcome {
        outcome(&self.judge("Write", &Target::Write(self.cwd().join(path))))
    }
}

static NOTHING: std::sync::LazyLock<Object> = std::sync::LazyLock::new(Object::new);

pub(super) fn question<'a>(tool: &'a str, target: &'a Target, cwd: &'a Path) -> Question<'a> {
    Question {
        tool,
        target,
        input: &NOTHING,
        read_only: false,
        hook: None,
        host_can_ask: true,
        cwd,
    }
}

pub(super) fn shell(command: &str) -> Target {
    Target::Command {
        command: command.to_owned(),
        unsandboxed: false,
    }
}

pub(super) fn outcome(verdict: &Verdict) -> Outcome {
    match verdict {
        Verdict::Allow { .. } => Outcome::Allow,
        Verdict::Ask(_) => Outcome::Ask,
        Verdict::Deny { .. } => Outcome::Deny,
    }
}
