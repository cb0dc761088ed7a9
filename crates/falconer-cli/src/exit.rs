//! Exit codes and error texts.

use std::process::ExitCode;

use falconer::{Error, FailureClass};
use owo_colors::OwoColorize;

use crate::watch::{WatchError, Watched};

/// Exit codes, as `falconer --help` tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    /// The agent did not do what was asked.
    Agent = 1,
    /// The command line is wrong. Also what clap uses.
    Usage = 2,
    /// Something has to be set up first: a key, an executable, a directory.
    Setup = 3,
    /// A fault of ours or of the machine.
    Internal = 4,
    /// Ctrl-C.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    pub(crate) fn of_watched(watched: &Watched) -> Self {
        match watched {
            Watched::Result(result) if result.is_error => Self::Agent,
            Watched::Result(_) => Self::Success,
            Watched::Interrupted => Self::Interrupted,
        }
    }

    pub(crate) fn of_error(error: &Error) -> Self {
        match error {
            Error::Failed(failure) => match failure.class {
                FailureClass::Authentication | FailureClass::Startup(_) => Self::Setup,
                _ => Self::Agent,
            },
            Error::InvalidOptions { .. } => Self::Usage,
            Error::CliNotFound { .. }
            | Error::CliUnusable { .. }
            | Error::CliVersion { .. }
            | Error::Launch { .. }
            | Error::WorkingDirectory { .. } => Self::Setup,
            _ => Self::Internal,
        }
    }
}

/// Says on stderr what went wrong and what to do.
pub(crate) fn report(error: &WatchError) -> Exit {
    match error {
        WatchError::Run(error) => {
            say("error:", error);
            say("hint:", error.advice());
            Exit::of_error(error)
        }
        WatchError::Screen(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            Exit::Success
        }
        WatchError::Screen(_) => {
            say("error:", error);
            Exit::Internal
        }
    }
}

/// Says on stderr what is wrong with the surroundings.
pub(crate) fn report_setup(text: impl std::fmt::Display, hint: impl std::fmt::Display) -> Exit {
    say("error:", text);
    say("hint:", hint);
    Exit::Setup
}

fn say(label: &str, text: impl std::fmt::Display) {
    anstream::eprintln!("{} {text}", label.bold());
}
