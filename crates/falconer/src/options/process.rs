//! The executable, what it reports, and arguments nobody foresaw.

use std::fmt;
use std::path::PathBuf;

use crate::launch::redact::masked_variable;

use super::Options;

/// Recorded settings of this file.
#[derive(Clone, Default)]
pub(crate) struct ProcessOptions {
    pub(crate) executable: Option<PathBuf>,
    pub(crate) check_version: bool,
    pub(crate) partial_messages: bool,
    pub(crate) hook_events: bool,
    pub(crate) replay_user_messages: bool,
    pub(crate) debug: bool,
    pub(crate) debug_file: Option<PathBuf>,
    pub(crate) extra_args: Vec<(String, Option<String>)>,
}

impl fmt::Debug for ProcessOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extra_args = self.extra_args.iter().map(|(name, value)| match value {
            Some(value) => format!("--{name}={}", masked_variable(name, value)),
            None => format!("--{name}"),
        });
        let extra_args: Vec<_> = extra_args.collect();
        f.debug_struct("ProcessOptions")
            .field("executable", &self.executable)
            .field("check_version", &self.check_version)
            .field("partial_messages", &self.partial_messages)
            .field("hook_events", &self.hook_events)
            .field("replay_user_messages", &self.replay_user_messages)
            .field("debug", &self.debug)
            .field("debug_file", &self.debug_file)
            .field("extra_args", &extra_args)
            .finish()
    }
}

impl Options {
    /// Uses this executable.
    ///
    /// Default: `FALCONER_CLAUDE_PATH`, then `PATH`, then the places installers use.
    #[must_use]
    pub fn executable(mut self, path: impl Into<PathBuf>) -> Self {
        self.launch.process.executable = Some(path.into());
        self
    }

    /// Asks the executable for its version before it is started.
    ///
    /// Costs about 20 ms the first time. Default: only when another option depends on the
    /// version; the engine reports it anyway once it runs.
    #[must_use]
    pub fn check_version(mut self) -> Self {
        self.launch.process.check_version = true;
        self
    }

    /// Streams answers as they are written.
    ///
    /// Carried by `--include-partial-messages`. Default: whole messages.
    #[must_use]
    pub fn include_partial_messages(mut self) -> Self {
        self.launch.process.partial_messages = true;
        self
    }

    /// Returns `true` if answers are streamed as they are written.
    #[must_use]
    pub fn includes_partial_messages(&self) -> bool {
        self.launch.process.partial_messages
    }

    /// Reports the life of hooks.
    ///
    /// Carried by `--include-hook-events`. Default: off.
    #[must_use]
    pub fn include_hook_events(mut self) -> Self {
        self.launch.process.hook_events = true;
        self
    }

    /// Echoes user messages as the engine took them.
    ///
    /// Carried by `--replay-user-messages`. Default: off.
    #[must_use]
    pub fn replay_user_messages(mut self) -> Self {
        self.launch.process.replay_user_messages = true;
        self
    }

    /// Turns on the engine's debug log.
    ///
    /// Carried by `--debug`. Default: off.
    #[must_use]
    pub fn debug(mut self) -> Self {
        self.launch.process.debug = true;
        self
    }

    /// Writes the engine's debug log to this file.
    ///
    /// Carried by `--debug-file`. Default: none.
    #[must_use]
    pub fn debug_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.launch.process.debug_file = Some(path.into());
        self
    }

    /// Passes a switch that has no method here; `name` is without the dashes.
    #[must_use]
    pub fn extra_switch(mut self, name: impl Into<String>) -> Self {
        self.launch.process.extra_args.push((name.into(), None));
        self
    }

    /// Passes an argument that has no method here; `name` is without the dashes.
    #[must_use]
    pub fn extra_arg(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let argument = (name.into(), Some(value.into()));
        self.launch.process.extra_args.push(argument);
        self
    }
}
