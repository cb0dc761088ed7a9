//! The errors of the library as one enum, with advice for a person.

#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use falconer_process::SpawnError;

use crate::failure::{Failure, FailureClass};
use crate::isolation::IsolationError;
use crate::launch::{ExecutableProblem, NamedBy, OptionProblems, VersionProblem};
use crate::sessions::SessionError;
use crate::transport::EngineExit;

/// Anything that can go wrong between the caller and the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading from or writing to the engine failed.
    #[error("failed to {doing} the engine: {source}")]
    Transport {
        /// Attempted operation: `read from`, `write to`.
        doing: &'static str,
        /// Reason for the failure.
        source: io::Error,
    },
    /// The engine ended although something was still expected of it.
    #[error("the engine ended while {during} ({exit}){}", stderr_note(.stderr))]
    EngineEnded {
        /// Activity at the time.
        during: String,
        /// End of the engine.
        exit: EngineExit,
        /// The last lines it wrote to stderr.
        stderr: Vec<String>,
    },
    /// The engine did not answer in time.
    #[error("the engine did not answer {request} within {after:?}{}", stderr_note(.stderr))]
    Timeout {
        /// The request that was not answered.
        request: String,
        /// Time that was waited.
        after: Duration,
        /// The last lines it wrote to stderr.
        stderr: Vec<String>,
    },
    /// The engine said no to a request.
    #[error("the engine refused {request}: {message}")]
    Refused {
        /// The request.
        request: String,
        /// The engine's words.
        message: String,
        /// Its code, such as `invalid_mode`, if it sent one.
        code: Option<String>,
    },
    /// The engine answered something else than was asked.
    #[error("failed to read the answer to {request}: {source}")]
    UnexpectedAnswer {
        /// The request.
        request: String,
        /// Part that did not fit.
        source: serde_json::Error,
    },
    /// A turn failed.
    #[error("{0}")]
    Failed(Failure),
    /// The run ended without a result.
    #[error("the run ended without a result{}", stderr_note(.stderr))]
    NoResult {
        /// The last lines the engine wrote to stderr.
        stderr: Vec<String>,
    },
    /// The run succeeded, but gave no structured output that fits the type.
    #[error("the run gave no structured output that fits{}", mismatch_note(.mismatch.as_ref()))]
    NoStructuredOutput {
        /// Reason the last answer did not fit, if there was one.
        mismatch: Option<serde_json::Error>,
    },
    /// A hook must block when it fails, but this engine would go on.
    #[error(
        "a hook must block when it fails, and claude {} does not support that; run `claude update` \
         or choose another `OnFailure`",
        .version.as_deref().unwrap_or("(of unknown version)")
    )]
    HooksFailOpen {
        /// The engine's version.
        version: Option<String>,
    },
    /// The engine's program could not be started.
    #[error("failed to start the engine: {source}")]
    Launch {
        /// The program as it was asked for.
        program: PathBuf,
        /// Reason for the failure.
        source: SpawnError,
    },
    /// No `claude` executable was found.
    #[error(
        "claude not found; searched {}; install it with `npm install -g @anthropic-ai/claude-code`, \
         then log in with `claude` and `/login` or set ANTHROPIC_API_KEY, or name it with \
         FALCONER_CLAUDE_PATH",
        path_list(.searched)
    )]
    CliNotFound {
        /// Every place that was looked at.
        searched: Vec<PathBuf>,
    },
    /// The executable that was named cannot be used.
    #[error("cannot use {} named by {named_by}: {problem}", path.display())]
    CliUnusable {
        /// The path.
        path: PathBuf,
        /// Origin of the path.
        named_by: NamedBy,
        /// Reason it cannot be used.
        problem: ExecutableProblem,
    },
    /// The version of the executable could not be learned.
    #[error("failed to learn the version of {}: {problem}", path.display())]
    CliVersion {
        /// The path.
        path: PathBuf,
        /// Reason its version is unknown.
        problem: VersionProblem,
    },
    /// The options contradict each other or cannot be honoured; nothing was started.
    #[error("{problems}")]
    InvalidOptions {
        /// Everything that is wrong.
        problems: OptionProblems,
    },
    /// The working directory cannot be used.
    #[error("cannot use working directory {}: {source}", path.display())]
    WorkingDirectory {
        /// The directory.
        path: PathBuf,
        /// Reason for the failure.
        source: io::Error,
    },
    /// An isolated run could not be set up; nothing was started.
    #[error("{0}")]
    Isolation(#[source] Box<IsolationError>),
    /// Reading, changing or storing a session failed.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl From<IsolationError> for Error {
    fn from(error: IsolationError) -> Self {
        Self::Isolation(Box::new(error))
    }
}

impl Error {
    /// Returns `true` if the same call may well succeed later, with nothing changed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Failed(failure) => failure.is_retryable(),
            Self::Timeout { .. } => true,
            _ => false,
        }
    }

    /// Returns advice for a person.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Failed(failure) => failure.advice(),
            Self::Transport { .. } | Self::EngineEnded { .. } | Self::NoResult { .. } => {
                "read the end of stderr; resume the session to go on"
            }
            Self::Timeout { .. } => "try again, or raise the limit if the machine is busy",
            Self::Refused { .. } => "change what was asked as the engine says; the session goes on",
            Self::UnexpectedAnswer { .. } => "update falconer or claude, they do not match",
            Self::NoStructuredOutput { .. } => FailureClass::StructuredOutput.advice(),
            Self::HooksFailOpen { .. } | Self::CliVersion { .. } => "run `claude update`",
            Self::Launch { .. } | Self::CliUnusable { .. } => {
                "name an executable of claude for this machine"
            }
            Self::CliNotFound { .. } => "install claude, or set FALCONER_CLAUDE_PATH to it",
            Self::InvalidOptions { .. } => "change the options as the message says",
            Self::WorkingDirectory { .. } => "choose a directory that exists and may be entered",
            Self::Isolation(error) => error.advice(),
            Self::Session(_) => "list the sessions of the directory to see what there is",
        }
    }
}

fn path_list(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(", ")
}

/// The end of stderr as a suffix of an error text, if there was any.
fn stderr_note(stderr: &[String]) -> String {
    match stderr.last() {
        Some(last) => format!("; its stderr ends with: {last}"),
        None => String::new(),
    }
}

fn mismatch_note(mismatch: Option<&serde_json::Error>) -> String {
    mismatch
        .map(|error| format!(": {error}"))
        .unwrap_or_default()
}
