//! The environment a choice is made in: given, so that a test can give another.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use falconer::Options;
use falconer::account::Sources;
use falconer_secret::Redactor;

/// Variables, and the home they name.
#[derive(Clone)]
pub struct Environment {
    variables: Vec<(OsString, OsString)>,
    kind: Kind,
    /// Knows the secrets in the variables, and learns those in files.
    redactor: Redactor,
}

/// Whose variables they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Those of this process, which an engine inherits.
    Inherited,
    /// Others, which an engine is given instead of those of this process.
    Given,
}

impl Environment {
    /// That of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self::with(falconer_process::variables(), Kind::Inherited)
    }

    /// Exactly these variables; an engine that is chosen gets them, and no others.
    #[must_use]
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self::with(variables.into_iter().collect(), Kind::Given)
    }

    fn with(variables: Vec<(OsString, OsString)>, kind: Kind) -> Self {
        let redactor = Redactor::default();
        let borrowed = variables.iter();
        redactor.learn_variables(borrowed.map(|(name, value)| (name.as_ref(), value.as_ref())));
        Self {
            variables,
            kind,
            redactor,
        }
    }

    /// Takes the secrets of this environment, and of every engine that was chosen in it, out of
    /// what is shown and written.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// All of them.
    #[must_use]
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// The value of a variable; an empty one counts as not set.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&OsStr> {
        let found = self.variables.iter().rev().find(|(other, _)| other == name);
        let value = found.map(|(_, value)| value.as_os_str());
        value.filter(|value| !value.is_empty())
    }

    /// Where the official CLI, and the native engine, keep their settings.
    #[must_use]
    pub fn claude_directory(&self) -> Option<PathBuf> {
        let named = self.value("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        let home = self.value("HOME").map(PathBuf::from);
        named.or_else(|| Some(home?.join(".claude")))
    }

    /// Where credentials are looked for.
    #[must_use]
    pub fn sources(&self) -> Sources {
        let sources = Sources::new().env(self.variables.iter().cloned());
        match self.value("HOME") {
            Some(home) => sources.home(home),
            None => sources,
        }
    }

    /// Gives an engine these variables.
    pub(crate) fn apply(&self, options: Options) -> Options {
        match self.kind {
            Kind::Inherited => options,
            Kind::Given => {
                let cleared = options.env_clear();
                let variables = self.variables.iter();
                variables.fold(cleared, |options, (name, value)| options.env(name, value))
            }
        }
    }
}

/// Only names are shown; any value may be secret.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("Environment")
            .field("variables", &names)
            .field("kind", &self.kind)
            .finish()
    }
}
