//! What tools may do, by a file: allow, deny or ask, the same for every engine.
//!
//! ```toml
//! [allow]
//! tools = ["Read", "Grep"]
//! commands = ["cargo test", "git status"]
//! mcp = ["github/get_*"]
//! rules = ["WebFetch(domain:docs.rs)", "Edit(./src/**)"]
//!
//! [ask]
//! paths = ["**/*.lock"]
//!
//! [deny]
//! tools = ["WebFetch"]
//! paths = ["secrets/**"]
//! ```
//!
//! Denials come first, then what is to be asked, then what is allowed; what no rule names is
//! left to the engine. Files that usually hold secrets are denied unless the file says
//! `sensitive_paths = "ask"` or `"allow"`.

mod file;
mod search;
mod sensitive;

use std::path::{Path, PathBuf};

use falconer_rule::{
    Anchors, Because, Call, Judgement, Outcome, Rule, RuleSet, Subject, Voice, protected_by, shell,
};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

pub use falconer_rule::Effect;
pub use file::PolicyError;
pub use sensitive::sensitive_patterns;

use search::Finding;

/// Rules read from a policy file.
#[derive(Debug, Clone)]
pub struct Policy {
    rules: Vec<(Effect, Rule)>,
    warnings: Vec<String>,
    sensitive: Sensitive,
    anchors: Anchors,
    placed: Placed,
    /// The rules, ready for calls.
    bound: RuleSet,
}

/// Rules outside of the policy that deny or ask, and may change while a session runs.
pub trait Restrictions: std::fmt::Debug + Send + Sync {
    /// Returns why a call has to be asked about, if it has to be. An error denies the call.
    fn asks<'r>(
        &'r self,
        tool: &'r str,
        input: &'r Value,
        cwd: Option<&'r Path>,
    ) -> BoxFuture<'r, Result<Option<String>, String>>;
}

/// What is to become of a call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// `None` if no rule is about the call: the engine decides.
    pub effect: Option<Effect>,
    /// One sentence for people.
    pub reason: String,
}

/// Whether somebody said where the project is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placed {
    ByDefault,
    ByChoice,
}

/// What about files that usually hold secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Sensitive {
    #[default]
    Deny,
    Ask,
    Allow,
}

impl Default for Policy {
    fn default() -> Self {
        let mut policy = Self::without_rules();
        policy.bind();
        policy
    }
}

impl Policy {
    /// Until it is told otherwise, it is about the directory and the home of this process.
    fn without_rules() -> Self {
        Self {
            rules: Vec::new(),
            warnings: Vec::new(),
            sensitive: Sensitive::default(),
            anchors: Anchors {
                project: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
                home: std::env::home_dir(),
            },
            placed: Placed::ByDefault,
            bound: RuleSet::default(),
        }
    }

    fn bind(&mut self) {
        self.bound = RuleSet::new(&self.rules, &self.anchors);
    }

    /// Rules that allow nothing, each with the reason.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The same policy for a project: relative paths start there.
    #[must_use]
    pub fn in_directory(mut self, project: impl Into<PathBuf>) -> Self {
        self.anchors.project = project.into();
        self.placed = Placed::ByChoice;
        self.bind();
        self
    }

    /// The policy for a session that works in a directory, unless it already has one.
    pub(crate) fn for_session_in(&self, directory: &Path) -> Self {
        match self.placed {
            Placed::ByChoice => self.clone(),
            Placed::ByDefault => self.clone().in_directory(directory),
        }
    }

    /// What would become of a call in the directory of the project, and why.
    pub fn explain(&self, tool: &str, input: &Value) -> Explanation {
        self.explain_in(tool, input, &self.anchors.project)
    }

    /// What would become of a call in a directory, and why.
    ///
    /// Links are resolved on the disk: what is forbidden under one of its names is forbidden,
    /// and allowed is only what is allowed under all of them.
    pub fn explain_in(&self, tool: &str, input: &Value, cwd: &Path) -> Explanation {
        let mut call = Call::new(tool, input, cwd);
        if let Some(home) = &self.anchors.home {
            call = call.home(home);
        }
        let judged = self.bound.judge(&call);
        // A rule that denies says more about the call than the built-in list.
        if judged.effect == Outcome::Deny {
            return judged.into();
        }
        match self.about_secrets(&call) {
            // What is to be asked by a rule is told by that rule.
            Some(found) if found.effect == Some(Effect::Deny) => found,
            Some(found) if judged.effect != Outcome::Ask => found,
            _ => {
                let explained = self.if_files_are_known(judged, &call);
                let explained = if_not_protected(explained, &call);
                self.if_nothing_is_found(explained, &call)
            }
        }
    }

    /// What the built-in list says.
    fn about_secrets(&self, call: &Call<'_>) -> Option<Explanation> {
        let effect = match self.sensitive {
            Sensitive::Deny => Effect::Deny,
            Sensitive::Ask => Effect::Ask,
            Sensitive::Allow => return None,
        };
        let subject = call.subject();
        let places = subject.places(call);
        let found = places.iter().find_map(|place| {
            let mut names = place.names().filter_map(Path::to_str);
            names.find_map(|name| Some((name.to_owned(), sensitive::matching(name)?)))
        });
        match found {
            Some((path, pattern)) => Some(Explanation {
                effect: Some(effect),
                reason: format!("`{path}` usually holds secrets (built-in pattern `{pattern}`)"),
            }),
            None => not_understood(subject),
        }
    }

    /// What the rules allow may still name a file that holds secrets, when nobody can tell.
    fn if_files_are_known(&self, judged: Judgement, call: &Call<'_>) -> Explanation {
        let is_open = self.sensitive == Sensitive::Allow || judged.effect != Outcome::Allow;
        if is_open || !call.subject().names_unknown_files(call) {
            return judged.into();
        }
        Explanation {
            effect: Some(Effect::Ask),
            reason: Because::unknown_files().to_string(),
        }
    }
}

/// Searches come across files that nobody named.
impl Policy {
    /// What is not forbidden may still read a file that is, on its way through a directory. Only
    /// a person can say whether that matters.
    fn if_nothing_is_found(&self, explained: Explanation, call: &Call<'_>) -> Explanation {
        let is_open = matches!(explained.effect, None | Some(Effect::Allow));
        let denies = self.rules.iter().any(|(effect, _)| *effect == Effect::Deny);
        if !is_open || (self.sensitive == Sensitive::Allow && !denies) {
            return explained;
        }
        let searches = search::searches(call);
        let finding =
            (searches.iter()).find_map(|search| search.finding(|file| self.forbids(file)));
        let reason = match finding {
            None => return explained,
            Some(Finding::Forbidden(file, why)) => format!(
                "the search comes across `{}`: {why}; search in other directories, or name the \
                 files to search",
                file.display()
            ),
            Some(Finding::TooMuch(root)) => format!(
                "there is too much below `{}` to tell whether the search comes across a file that \
                 is denied",
                root.display()
            ),
        };
        Explanation {
            effect: Some(Effect::Ask),
            reason,
        }
    }

    /// Why a file must not be read, if it must not.
    fn forbids(&self, file: &Path) -> Option<String> {
        if self.sensitive != Sensitive::Allow
            && let Some(pattern) = file.to_str().and_then(sensitive::matching)
        {
            let why = format!("it usually holds secrets (built-in pattern `{pattern}`)");
            return Some(why);
        }
        let input = json!({"file_path": file});
        let judged = self
            .bound
            .judge(&Call::new("Read", &input, &self.anchors.project));
        (judged.effect == Outcome::Deny).then(|| judged.because.to_string())
    }
}

/// No rule speaks for a protected place.
fn if_not_protected(explained: Explanation, call: &Call<'_>) -> Explanation {
    if explained.effect != Some(Effect::Allow) {
        return explained;
    }
    match protected_by(call) {
        Some(path) => Explanation {
            effect: Some(Effect::Ask),
            reason: format!("`{}` is protected, whatever rules allow", path.display()),
        },
        None => explained,
    }
}

/// A command of which nobody can say which files it touches.
fn not_understood(subject: &Subject) -> Option<Explanation> {
    let Subject::Command { script, .. } = subject else {
        return None;
    };
    let why = match script {
        Err(error) => error.to_string(),
        Ok(script) => (script.parts().iter())
            .find_map(|part| shell::stripped(part).opaque)?
            .to_owned(),
    };
    Some(Explanation {
        effect: Some(Effect::Ask),
        reason: format!("the command cannot be judged: {why}"),
    })
}

impl From<Explanation> for Voice {
    fn from(explained: Explanation) -> Self {
        Self {
            who: "policy file".to_owned(),
            outcome: match explained.effect {
                Some(Effect::Deny) => Outcome::Deny,
                Some(Effect::Ask) => Outcome::Ask,
                Some(Effect::Allow) => Outcome::Allow,
                None => Outcome::NoMatch,
            },
            because: explained.reason,
            needs_person: false,
        }
    }
}

impl From<Judgement> for Explanation {
    fn from(judged: Judgement) -> Self {
        Self {
            effect: judged.effect.effect(),
            reason: judged.because.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
