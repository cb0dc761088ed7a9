//! Exit codes, and what a command says when it cannot go on.

use std::fmt::Display;
use std::process::ExitCode;

use falconer::{Error, FailureClass};
use falconer_choice::ChooseError;
use falconer_event::{Failure, FailureKind, Outcome, RunCompleted};
use falconer_session::{LimitKind, LockError, RunFailure};
use owo_colors::OwoColorize;

use crate::here;

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
Exit codes: 0 success, 1 the agent failed, 2 invalid usage or configuration,
3 setup is incomplete, 4 internal error, 5 a limit was reached, 6 the session is
in use or does not exist, 7 the model's API failed (try again), 130 interrupted.";

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
            (_, Some(failure)) => Self::of_failure(failure),
            (Outcome::Cancelled, None) => Self::Interrupted,
            (_, None) => Self::Agent,
        }
    }

    /// By what the session, a limit or the engine calls it; the words are for people.
    fn of_failure(failure: &Failure) -> Self {
        if LimitKind::of(failure).is_some() {
            return Self::Limit;
        }
        match (RunFailure::of(failure), failure.kind) {
            (Some(kind), _) => Self::of_run_failure(kind),
            (None, Some(kind)) => Self::of_kind(kind),
            (None, None) => Self::Agent,
        }
    }

    fn of_run_failure(kind: RunFailure) -> Self {
        match kind {
            RunFailure::SessionNotFound | RunFailure::SessionMismatch | RunFailure::SessionBusy => {
                Self::Session
            }
            RunFailure::LockFailed | RunFailure::EngineNotStarted => Self::Setup,
            // An engine that died, and whatever else a session of tomorrow calls a failure.
            _ => Self::Agent,
        }
    }

    fn of_kind(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Authentication | FailureKind::Billing | FailureKind::Startup => {
                Self::Setup
            }
            FailureKind::ModelNotFound => Self::Usage,
            FailureKind::RateLimit | FailureKind::Overloaded | FailureKind::Service => {
                Self::Service
            }
            FailureKind::MaxTurns | FailureKind::Budget => Self::Limit,
            FailureKind::Interrupted => Self::Interrupted,
            // The agent did not manage: too long, refused, not what the schema wants.
            _ => Self::Agent,
        }
    }

    fn of_error(error: &Error) -> Self {
        match error {
            Error::Failed(failure) => match failure.class {
                FailureClass::Authentication | FailureClass::Billing | FailureClass::Startup(_) => {
                    Self::Setup
                }
                FailureClass::ModelNotFound => Self::Usage,
                FailureClass::MaxTurns | FailureClass::Budget => Self::Limit,
                FailureClass::Aborted => Self::Interrupted,
                FailureClass::SessionNotFound => Self::Session,
                ref other if other.is_retryable() => Self::Service,
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
                "check the terminal, the pipe and the disk",
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
        // Where all was looked is a long list; `doctor` has it, line by line.
        let text = match &error {
            ChooseError::NothingUsable { cli, looked } => {
                let claude = match cli {
                    Ok(path) => format!("claude ({}) is not logged in", path.display()),
                    Err(_) => "claude was not found".to_owned(),
                };
                let places = looked.looked_at().len();
                format!("no engine can run: {claude}, and no key was found in {places} places")
            }
            other => other.to_string(),
        };
        let more = match &error {
            ChooseError::NothingUsable { .. } => "; `falconer doctor` lists where it looked",
            _ => "",
        };
        Self::new(exit, text, format!("{}{more}", error.advice()))
    }
}

impl From<falconer_session::Error> for Fault {
    fn from(error: falconer_session::Error) -> Self {
        use falconer_session::Error as Session;
        match error {
            Session::Engine(error) => match error.into_source::<Error>() {
                Ok(error) => error.into(),
                Err(error) => Self::new(Exit::Internal, error, "run it again"),
            },
            Session::Lock(LockError::Held { .. }) => Self::new(
                Exit::Session,
                &error,
                "add `--wait` to wait for the other run, or `--fork` to go on with a copy",
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
        let exit = if error.is_not_found() {
            Exit::Session
        } else {
            Exit::Setup
        };
        Self::new(
            exit,
            &error,
            "`falconer sessions list --all` lists all sessions",
        )
    }
}

/// Says something with a label on stderr.
pub(crate) fn say(label: &str, text: impl Display) {
    let text = here::redactor().clean(text.to_string());
    anstream::eprintln!("{} {text}", label.bold());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_codes_by_what_they_are_and_never_by_their_words() {
        use FailureKind as Kind;
        let classes = [
            ("limit:usd", Exit::Limit),
            ("limit:silence", Exit::Limit),
            ("session_busy", Exit::Session),
            ("session_not_found", Exit::Session),
            ("engine_not_started", Exit::Setup),
            ("lock_failed", Exit::Setup),
            ("engine_ended", Exit::Agent),
            ("error_during_execution", Exit::Agent),
            ("a word of tomorrow", Exit::Agent),
        ];
        for (class, exit) in classes {
            let failure = Failure::new(class, "not logged in: 401, 529 overloaded");
            assert_eq!(Exit::of_failure(&failure), exit, "{class}");
        }
        let kinds = [
            (Kind::Authentication, Exit::Setup),
            (Kind::Billing, Exit::Setup),
            (Kind::Startup, Exit::Setup),
            (Kind::ModelNotFound, Exit::Usage),
            (Kind::RateLimit, Exit::Service),
            (Kind::Overloaded, Exit::Service),
            (Kind::Service, Exit::Service),
            (Kind::MaxTurns, Exit::Limit),
            (Kind::Budget, Exit::Limit),
            (Kind::Interrupted, Exit::Interrupted),
            (Kind::Refusal, Exit::Agent),
            (Kind::StructuredOutput, Exit::Agent),
        ];
        for (kind, exit) in kinds {
            let failure = Failure::new("api_error", "words").of_kind(kind);
            assert_eq!(Exit::of_failure(&failure), exit, "{kind:?}");
        }
    }
}
