//! The description of a process to start.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::confine::{Confinement, Unconfined, confinement};

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
    /// Time from SIGTERM to SIGKILL when the [`Handle`](crate::Handle) is dropped.
    pub drop_grace: Duration,
    /// Confines the program to reading; see [`confinement`](crate::confinement).
    ///
    /// It then runs in a session of its own, without a terminal, and `TMPDIR` is a directory that
    /// is removed when everything it started has ended.
    pub confinement: Option<Confinement>,
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
            confinement: None,
        }
    }

    /// Confines the program to reading.
    ///
    /// # Errors
    /// [`Unconfined`] if this machine cannot.
    pub fn confined(self) -> Result<Self, Unconfined> {
        Ok(Self {
            confinement: Some(confinement()?),
            ..self
        })
    }
}
