//! The directory and variables of the engine.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use crate::launch::redact::{KnownSecrets, masked_variable};

use super::Options;

/// A change to the environment of the engine; later ones win.
#[derive(Clone)]
pub(crate) enum EnvironmentChange {
    Set(OsString, OsString),
    Remove(OsString),
    Keep(OsString),
}

impl fmt::Debug for EnvironmentChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set(name, value) => {
                let name = name.to_string_lossy();
                let value = masked_variable(&name, &value.to_string_lossy());
                write!(f, "{name}={value}")
            }
            Self::Remove(name) => write!(f, "-{}", name.to_string_lossy()),
            Self::Keep(name) => write!(f, "keep {}", name.to_string_lossy()),
        }
    }
}

/// The span that the run belongs to, as W3C trace context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    pub(crate) parent: String,
    pub(crate) state: Option<String>,
}

impl TraceContext {
    /// From the value of a `traceparent` header.
    #[must_use]
    pub fn new(traceparent: impl Into<String>) -> Self {
        Self {
            parent: traceparent.into(),
            state: None,
        }
    }

    /// Adds the value of a `tracestate` header.
    #[must_use]
    pub fn state(mut self, tracestate: impl Into<String>) -> Self {
        self.state = Some(tracestate.into());
        self
    }
}

/// Recorded settings of this file.
#[derive(Debug, Clone, Default)]
pub(crate) struct EnvironmentOptions {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) additional_directories: Vec<PathBuf>,
    pub(crate) project_config_root: Option<PathBuf>,
    pub(crate) cleared: bool,
    pub(crate) changes: Vec<EnvironmentChange>,
    pub(crate) trace: Option<TraceContext>,
    pub(crate) client_app: Option<String>,
}

impl EnvironmentOptions {
    /// The values of variables that are secret by their name.
    pub(crate) fn known_secrets(&self) -> KnownSecrets {
        let set = self.changes.iter().filter_map(|change| match change {
            EnvironmentChange::Set(name, value) => Some((name.to_str()?, value.to_str()?)),
            EnvironmentChange::Remove(_) | EnvironmentChange::Keep(_) => None,
        });
        KnownSecrets::of(set)
    }
}

impl Options {
    /// Runs in this directory, which must exist.
    ///
    /// Also sets `PWD`. Default: the directory of this process.
    #[must_use]
    pub fn cwd(mut self, path: impl Into<PathBuf>) -> Self {
        self.launch.environment.cwd = Some(path.into());
        self
    }

    /// Lets the agent work in this directory, too.
    ///
    /// Carried by `--add-dir`. Default: only the working directory.
    #[must_use]
    pub fn additional_directory(mut self, path: impl Into<PathBuf>) -> Self {
        let directories = &mut self.launch.environment.additional_directories;
        directories.push(path.into());
        self
    }

    /// Reads project configuration from this trusted checkout.
    ///
    /// Carried by `--project-config-root`. Default: the working directory.
    #[must_use]
    pub fn project_config_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.launch.environment.project_config_root = Some(path.into());
        self
    }

    /// Sets a variable, over whatever would be inherited or set by default.
    ///
    /// Default: the environment of this process without `CLAUDECODE`, `NODE_OPTIONS` and
    /// `DEBUG`.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let change = EnvironmentChange::Set(name.into(), value.into());
        self.launch.environment.changes.push(change);
        self
    }

    /// Removes a variable.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        let change = EnvironmentChange::Remove(name.into());
        self.launch.environment.changes.push(change);
        self
    }

    /// Inherits a variable that would not be inherited by default: `CLAUDECODE`,
    /// `NODE_OPTIONS`, `DEBUG`, or any other after [`Options::env_clear`].
    #[must_use]
    pub fn env_inherit(mut self, name: impl Into<OsString>) -> Self {
        let change = EnvironmentChange::Keep(name.into());
        self.launch.environment.changes.push(change);
        self
    }

    /// Inherits nothing, not even `PATH` and `HOME`; wherever it stands in the chain, what
    /// [`Options::env`] and [`Options::env_inherit`] name is kept.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.launch.environment.cleared = true;
        self
    }

    /// Makes the run part of a distributed trace.
    ///
    /// Carried by `TRACEPARENT` and `TRACESTATE`, replacing inherited ones. Default: none.
    #[must_use]
    pub fn trace_context(mut self, trace: TraceContext) -> Self {
        self.launch.environment.trace = Some(trace);
        self
    }

    /// Names the application in the engine's user agent, for example `my-app/1.0.0`.
    ///
    /// Carried by `CLAUDE_AGENT_SDK_CLIENT_APP`. Default: none.
    #[must_use]
    pub fn client_app(mut self, name: impl Into<String>) -> Self {
        self.launch.environment.client_app = Some(name.into());
        self
    }
}
