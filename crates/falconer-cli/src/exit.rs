//! Exit codes, and what a command says when it cannot go on.

use std::fmt::Display;
use std::process::ExitCode;

use falconer::{Error, FailureClass};
use falconer_event::{Outcome, RunCompleted};
use falconer_native::choose::ChooseError;
use falconer_session::LockError;
use owo_colors::OwoColorize;

/// Exit codes, as `falconer --help` tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    /// The agent did not do what was asked.
    Agent = 1,
    /// The command line or a configuration is wrong. Also what clap uses.
    Usage = 2,
    /// Something has to be set up first: a key, an executable, a directory.
    Setup = 3,
    /// A fault of ours or of the machine.
    Internal = 4,
    /// A limit of the run was reached.
    Limit = 5,
    /// The session is in use, or not there.
    Session = 6,
    /// The model's service failed; the same may well succeed later.
    Service = 7,
    /// Ctrl-C.
    Interrupted = 130,
}

/// The codes for people.
pub(crate) const CODES: &str = "\
Exit codes: 0 done, 1 the agent failed, 2 wrong usage or configuration,
3 something must be set up first, 4 internal fault, 5 a limit was reached,
6 the session is in use or not there, 7 the model's service failed (try again),
130 interrupted.";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// The code for the end of a run.
    pub(crate) fn of_run(completed: &RunCompleted) -> Self {
        match (completed.outcome, &completed.failure) {
            (Outcome::Ok, _) => Self::Success,
            (_, Some(failure)) => Self::of_class(&failure.class, &failure.text),
            (Outcome::Cancelled, None) => Self::Interrupted,
            (_, None) => Self::Agent,
        }
    }

    /// The class is a word of the engine or of Falconer; for some only the text says more.
    fn of_class(class: &str, text: &str) -> Self {
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        match class {
            limit if limit.starts_with("limit:") => Self::Limit,
            "error_max_turns" | "error_max_budget_usd" | "max_turns" => Self::Limit,
            "session_not_found" | "session_mismatch" | "session_busy" => Self::Session,
            "lock_failed" | "engine_not_started" => Self::Setup,
            startup if startup.starts_with("startup:") => Self::Setup,
            "aborted" | "aborted_streaming" | "aborted_tools" | "interrupted" => Self::Interrupted,
            "api_error" | "error" | "error_during_execution"
                if says(&["not logged in", "Not logged in", "authentication", "401"]) =>
            {
                Self::Setup
            }
            "api_error" | "overloaded" | "rate_limit" => Self::Service,
            _ if says(&["overloaded", "529", "429", "API Error: 5"]) => Self::Service,
            _ => Self::Agent,
        }
    }

    fn of_error(error: &Error) -> Self {
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
            | Error::Isolation(_)
            | Error::WorkingDirectory { .. } => Self::Setup,
            Error::Session(_) => Self::Session,
            _ => Self::Internal,
        }
    }
}

/// Why a command cannot go on, and what to do.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) exit: Exit,
    pub(crate) text: String,
    pub(crate) hint: String,
}

/// How a command ends.
pub(crate) type Done = Result<Exit, Fault>;

impl Fault {
    pub(crate) fn new(exit: Exit, text: impl Display, hint: impl Display) -> Self {
        Self {
            exit,
            text: text.to_string(),
            hint: hint.to_string(),
        }
    }

    /// The command line or a configuration is wrong.
    pub(crate) fn usage(text: impl Display, hint: impl Display) -> Self {
        Self::new(Exit::Usage, text, hint)
    }

    /// Something has to be set up first.
    pub(crate) fn setup(text: impl Display, hint: impl Display) -> Self {
        Self::new(Exit::Setup, text, hint)
    }

    /// Says it on stderr.
    pub(crate) fn report(&self) -> Exit {
        // A reader that has left needs no more words.
        if !self.text.is_empty() {
            say("error:", &self.text);
            say("hint:", &self.hint);
        }
        self.exit
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::new(Exit::Success, "", ""),
            _ => Self::new(
                Exit::Internal,
                format!("failed to read or write: {error}"),
                "see whether the terminal, the pipe and the disk are there and have room",
            ),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::new(Exit::of_error(&error), &error, error.advice())
    }
}

impl From<ChooseError> for Fault {
    fn from(error: ChooseError) -> Self {
        let exit = match &error {
            ChooseError::Cli(error) => Exit::of_error(error),
            _ => Exit::Setup,
        };
        Self::new(exit, &error, error.advice())
    }
}

impl From<falconer_session::Error> for Fault {
    fn from(error: falconer_session::Error) -> Self {
        use falconer_session::Error as Session;
        match error {
            Session::Engine(error) => error.into(),
            Session::Lock(LockError::Held { .. }) => Self::new(
                Exit::Session,
                &error,
                "wait for the other run to end, or add `--fork` to go on with a copy",
            ),
            Session::Lock(_) | Session::Transcript { .. } => Self::setup(
                &error,
                "make the directory writable, or set XDG_STATE_HOME to one that is",
            ),
            _ => Self::new(Exit::Internal, &error, "run it again"),
        }
    }
}

impl From<falconer::sessions::SessionError> for Fault {
    fn from(error: falconer::sessions::SessionError) -> Self {
        let exit = match error.is_not_found() {
            true => Exit::Session,
            false => Exit::Setup,
        };
        Self::new(
            exit,
            &error,
            "`falconer sessions list --all` shows what there is",
        )
    }
}

/// Says something with a label on stderr.
pub(crate) fn say(label: &str, text: impl Display) {
    anstream::eprintln!("{} {text}", label.bold());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_failure_have_codes() {
        let table = [
            ("limit:usd", "", Exit::Limit),
            ("error_max_turns", "", Exit::Limit),
            ("session_busy", "", Exit::Session),
            ("engine_not_started", "", Exit::Setup),
            ("startup:bad_settings", "", Exit::Setup),
            (
                "api_error",
                "not logged in: there is no API key",
                Exit::Setup,
            ),
            ("api_error", "API Error: 529 overloaded", Exit::Service),
            ("error_during_execution", "something", Exit::Agent),
            ("aborted_streaming", "", Exit::Interrupted),
            ("a word of tomorrow", "", Exit::Agent),
        ];
        for (class, text, exit) in table {
            assert_eq!(Exit::of_class(class, text), exit, "{class} {text}");
        }
    }
}
