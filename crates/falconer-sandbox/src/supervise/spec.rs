//! What to start.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A program to start, with its complete environment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Spec {
    /// A path, or a bare name to be looked up in the `PATH` of [`Spec::env`].
    pub program: PathBuf,
    /// The arguments after the program's name.
    pub args: Vec<OsString>,
    /// The whole environment; nothing is inherited.
    ///
    /// Markers (`FALCONER_RUN_…`) are added: one for this process, one for the process that
    /// starts it, and those that one was itself started with.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory; the caller's own if `None`.
    pub cwd: Option<PathBuf>,
    /// When the [`Handle`](crate::Handle) is dropped: time from SIGTERM to SIGKILL.
    pub drop_grace: Duration,
}

impl Spec {
    /// A program without arguments and with an empty environment.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            drop_grace: Duration::from_secs(2),
        }
    }
}
