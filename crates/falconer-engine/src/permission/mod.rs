//! Who may do what: rules, modes, protected paths, shell commands judged part by part.
//!
//! The order is: rules that deny, rules that ask, the mode, rules that allow, the default.
//! Hooks speak before and the host after; neither is called here.

mod command;
mod directories;
mod explain;
mod hidden;
mod judge;
mod path;
mod program;
mod question;
mod repository;
mod suggest;
mod target;
mod update;
mod wire;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer_protocol::permission::PermissionMode;
pub(crate) use falconer_rule::Effect;

pub(crate) use directories::Directories;
use falconer_rule::{
    Anchors, Matcher, Place, RuleProblem, RuleText, flaw, is_guarded, is_protected, understand,
};
pub(crate) use hidden::Hidden;
use program::Programs;
pub(crate) use question::{Ask, Because, HookDecision, Question, Verdict};
pub(crate) use target::Target;
pub(crate) use update::{Change, UpdateError};

/// Where a rule was written, most trusted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum RuleSource {
    Managed,
    Flag,
    CliArg,
    Session,
    Local,
    Project,
    User,
}

impl RuleSource {
    /// As hosts know it.
    pub(crate) fn wire_name(self) -> &'static str {
        match self {
            Self::Managed => "policySettings",
            Self::Flag => "flagSettings",
            Self::CliArg => "cliArg",
            Self::Session => "session",
            Self::Local => "localSettings",
            Self::Project => "projectSettings",
            Self::User => "userSettings",
        }
    }

    /// For people.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Managed => "managed settings",
            Self::Flag => "the settings given at the start",
            Self::CliArg => "the command line",
            Self::Session => "this session",
            Self::Local => "local settings",
            Self::Project => "project settings",
            Self::User => "user settings",
        }
    }
}

/// A rule with its place, before anybody has looked at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenRule {
    pub(crate) text: String,
    pub(crate) behavior: Effect,
    pub(crate) source: RuleSource,
}

/// Which modes a session may be switched to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Bypass {
    /// Nobody asked for it at the start.
    #[default]
    Locked,
    /// The second switch was given.
    Unlocked,
}

/// The locks on commands that run unasked because they only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Locks {
    /// They are judged, and the kernel keeps them from writing.
    Both,
    /// They are judged, and nothing else holds them.
    #[default]
    JudgementOnly,
}

/// What a session is started with.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) rules: Vec<WrittenRule>,
    pub(crate) mode: PermissionMode,
    /// Where the session works; the first of the working directories.
    pub(crate) cwd: PathBuf,
    pub(crate) home: Option<PathBuf>,
    /// `PATH`, as commands get it.
    pub(crate) path: Option<OsString>,
    pub(crate) additional_directories: Vec<PathBuf>,
    /// Directories of the engine that may be read, such as saved outputs.
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) bypass: Bypass,
    pub(crate) locks: Locks,
}

/// Why a mode was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ModeRefused {
    #[error("unknown permission mode {0:?}")]
    Unknown(String),
    #[error(
        "permission mode bypassPermissions is locked: the session was not started with permission to skip permissions"
    )]
    BypassLocked,
}

/// The permissions of one session. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Permissions {
    rules: Arc<Vec<Entry>>,
    problems: Vec<String>,
    mode: PermissionMode,
    directories: Directories,
    anchors: Anchors,
    programs: Programs,
    bypass: Bypass,
    locks: Locks,
    /// The one file that plan mode may write.
    plan_file: Option<Place>,
    /// Files that trusted hooks, servers and helpers run.
    guarded: Vec<Place>,
}

/// A rule in force.
#[derive(Debug, Clone)]
struct Entry {
    written: WrittenRule,
    /// As it is compared with others; broken ones have none.
    rule: Option<RuleText>,
    matcher: Option<Matcher>,
}

impl Permissions {
    pub(crate) fn new(start: Start) -> Result<Self, ModeRefused> {
        let mut permissions = Self {
            rules: Arc::default(),
            problems: Vec::new(),
            mode: PermissionMode::Default,
            directories: Directories::new(&start.cwd, &start.readable),
            anchors: Anchors {
                project: start.cwd,
                home: start.home,
            },
            programs: Programs::new(start.path.as_deref()),
            bypass: start.bypass,
            locks: start.locks,
            plan_file: None,
            guarded: Vec::new(),
        };
        for directory in start.additional_directories {
            permissions.directories.add(&directory);
        }
        for rule in start.rules {
            permissions.add(rule);
        }
        permissions.set_mode(start.mode)?;
        Ok(permissions)
    }

    fn add(&mut self, written: WrittenRule) {
        if self.rules.iter().any(|entry| entry.written == written) {
            return;
        }
        let (rule, matcher, problem) = understand(&written.text, written.behavior, &self.anchors);
        if let Some(problem) = problem {
            self.problems.push(describe(&written, &problem));
        } else if let Some(flaw) = flaw(&written.text) {
            self.problems
                .push(format!("{flaw} ({})", written.source.words()));
        }
        Arc::make_mut(&mut self.rules).push(Entry {
            written,
            rule,
            matcher,
        });
    }

    /// Lets plan mode keep its plan in this file.
    pub(crate) fn set_plan_file(&mut self, file: &Path) {
        self.plan_file = Some(Place::of(file));
    }

    /// Has these files asked about like protected ones: what they say runs unasked.
    pub(crate) fn guard(&mut self, files: &[PathBuf]) {
        self.guarded = files.iter().map(|file| Place::of(file)).collect();
    }

    fn is_protected(&self, place: &Place) -> bool {
        is_protected(place) || is_guarded(place, &self.guarded)
    }

    /// Rules that could not be used as written, each with what was done instead.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    pub(crate) fn mode(&self) -> &PermissionMode {
        &self.mode
    }

    pub(crate) fn set_mode(&mut self, mode: PermissionMode) -> Result<(), ModeRefused> {
        match &mode {
            PermissionMode::BypassPermissions if self.bypass == Bypass::Locked => {
                Err(ModeRefused::BypassLocked)
            }
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::BypassPermissions
            | PermissionMode::Plan
            | PermissionMode::DontAsk
            | PermissionMode::Auto => {
                self.mode = mode;
                Ok(())
            }
            other => Err(ModeRefused::Unknown(other.as_str().to_owned())),
        }
    }

    /// All rules in force, as they were written.
    pub(crate) fn written(&self) -> impl Iterator<Item = &WrittenRule> {
        self.rules.iter().map(|entry| &entry.written)
    }

    /// Replaces the rules of the settings files, keeping those of the session.
    pub(crate) fn reload(&mut self, rules: Vec<WrittenRule>) {
        self.problems.clear();
        Arc::make_mut(&mut self.rules).retain(|entry| {
            matches!(
                entry.written.source,
                RuleSource::Session | RuleSource::CliArg
            )
        });
        for rule in rules {
            self.add(rule);
        }
    }

    /// Adds rules that deny or ask.
    pub(crate) fn restrict(&mut self, rules: impl IntoIterator<Item = WrittenRule>) {
        let restrictions = rules.into_iter();
        for rule in restrictions.filter(|rule| rule.behavior != Effect::Allow) {
            self.add(rule);
        }
    }

    /// Whether a rule takes the whole tool away, so that the model is not told of it.
    pub(crate) fn removes(&self, tool: &str) -> bool {
        self.rules_that(Effect::Deny)
            .any(|(_, matcher)| matcher.is_whole_tool(tool))
    }

    #[cfg(test)]
    /// The names in rules that deny whole tools.
    pub(crate) fn removed_tools(&self) -> Vec<&str> {
        self.rules_that(Effect::Deny)
            .filter(|(_, matcher)| {
                matches!(
                    matcher,
                    Matcher::Tool(_) | Matcher::Prefix(_) | Matcher::Server(_)
                )
            })
            .map(|(entry, _)| entry.written.text.as_str())
            .collect()
    }

    /// The working directories, the one of the session first.
    pub(crate) fn dirs(&self) -> Vec<&Path> {
        self.directories.all()
    }

    /// Works in this directory, too.
    pub(crate) fn add_directory(&mut self, directory: &Path) {
        self.directories.add(directory);
    }

    fn rules_that(&self, behavior: Effect) -> impl Iterator<Item = (&Entry, &Matcher)> {
        self.rules
            .iter()
            .filter(move |entry| entry.written.behavior == behavior)
            .filter_map(|entry| Some((entry, entry.matcher.as_ref()?)))
    }
}

fn describe(written: &WrittenRule, problem: &RuleProblem) -> String {
    let consequence = match written.behavior {
        Effect::Allow => "it allows nothing",
        Effect::Deny | Effect::Ask => "it is taken for everything it may mean",
    };
    format!(
        "the {} rule {:?} in {} {problem}; {consequence}",
        written.behavior.key(),
        written.text,
        written.source.words(),
    )
}
