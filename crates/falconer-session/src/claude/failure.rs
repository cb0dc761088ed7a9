//! Errors of the SDK, as reasons why a run ended.

use falconer::{Error, FailureClass};

use crate::engine::{EngineError, Stopped};
use crate::failure::RunFailure;

/// Returns why an engine did not start.
pub(super) fn start(error: &Error) -> Stopped {
    of_error(error, RunFailure::EngineNotStarted)
}

/// Returns why an engine ended by itself.
pub(super) fn end(error: &Error) -> Stopped {
    of_error(error, RunFailure::EngineEnded)
}

/// Returns the error of a command.
pub(super) fn command(error: Error) -> EngineError {
    let is_retryable = error.is_retryable();
    EngineError::of(error).retryable(is_retryable)
}

fn of_error(error: &Error, otherwise: RunFailure) -> Stopped {
    let kind = match error {
        Error::Failed(failure) if failure.class == FailureClass::SessionNotFound => {
            RunFailure::SessionNotFound
        }
        // Without streaming the engine says it on stderr only.
        Error::EngineEnded { stderr, .. } if says_not_found(stderr) => RunFailure::SessionNotFound,
        _ => otherwise,
    };
    let failure = kind.with(error.to_string());
    let failure = match error {
        // Nothing ran, and the error knows better what is to be done than "see doctor".
        Error::Isolation(_)
        | Error::InvalidOptions { .. }
        | Error::WorkingDirectory { .. }
        | Error::HooksFailOpen { .. } => failure.hint(error.advice()),
        _ => failure,
    };
    Stopped::new(failure).stderr(stderr_of(error))
}

fn says_not_found(stderr: &[String]) -> bool {
    let found = |line: &String| line.to_ascii_lowercase().contains("no conversation found");
    stderr.iter().any(found)
}

fn stderr_of(error: &Error) -> Vec<String> {
    match error {
        Error::EngineEnded { stderr, .. }
        | Error::Timeout { stderr, .. }
        | Error::NoResult { stderr } => stderr.clone(),
        _ => Vec::new(),
    }
}
