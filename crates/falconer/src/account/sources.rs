//! Places to look for credentials: given, not taken from the process.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::time::SystemTime;

use secrecy::SecretString;

/// An environment, a home and a time to look for credentials in.
#[derive(Clone)]
pub struct Sources {
    pub(super) explicit: Option<SecretString>,
    env: Vec<(OsString, OsString)>,
    home: Option<PathBuf>,
    pub(super) files: Vec<PathBuf>,
    pub(super) now: SystemTime,
}

impl Default for Sources {
    fn default() -> Self {
        Self::new()
    }
}

impl Sources {
    /// An empty environment without a home.
    #[must_use]
    pub fn new() -> Self {
        Self {
            explicit: None,
            env: Vec::new(),
            home: None,
            files: Vec::new(),
            now: SystemTime::now(),
        }
    }

    /// The environment and home of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self::new().env(falconer_process::variables()).home_of_env()
    }

    /// A key the caller gives; it comes before everything else.
    #[must_use]
    pub fn explicit(mut self, key: impl Into<SecretString>) -> Self {
        self.explicit = Some(key.into());
        self
    }

    /// Adds these variables.
    #[must_use]
    pub fn env(mut self, env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.env.extend(env);
        self
    }

    /// Adds a variable.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Looks for files in this home. Default: no files.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Looks at this file for a key, too, after a key that is given and before everything else:
    /// a copy of `~/.claude.json` under another name.
    #[must_use]
    pub fn credential_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.files.push(file.into());
        self
    }

    /// Compares expiry with this time. Default: the time of [`Sources::new`].
    #[must_use]
    pub fn now(mut self, now: SystemTime) -> Self {
        self.now = now;
        self
    }

    /// Takes the home that the environment names.
    #[must_use]
    pub(crate) fn home_of_env(mut self) -> Self {
        self.home = self.value("HOME").map(PathBuf::from);
        self
    }

    /// The value of a variable; an empty one counts as not set.
    pub(crate) fn value(&self, name: &str) -> Option<&OsStr> {
        let found = self.env.iter().rev().find(|(other, _)| other == name);
        let value = found.map(|(_, value)| value.as_os_str());
        value.filter(|value| !value.is_empty())
    }

    /// A file in the home.
    pub(crate) fn in_home(&self, name: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(name))
    }

    /// A file in the configuration directory of the CLI.
    pub(crate) fn in_config(&self, name: &str) -> Option<PathBuf> {
        // A home that was not given means that no file is to be read.
        let default = self.in_home(".claude")?;
        let directory = self.value("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        Some(directory.unwrap_or(default).join(name))
    }
}

/// Only names are shown; any value may be secret.
impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Sources")
            .field("explicit", &self.explicit.as_ref().map(|_| "***"))
            .field("env", &names)
            .field("home", &self.home)
            .field("files", &self.files)
            .field("now", &self.now)
            .finish()
    }
}
