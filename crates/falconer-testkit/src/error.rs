//! Errors of the test kit itself, as one enum.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Anything that can go wrong in the test kit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("failed to read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Reason for the failure.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("failed to write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Reason for the failure.
        source: io::Error,
    },
    /// A scenario, script or cassette is not what its format asks for.
    #[error("{what} is not valid: {source}")]
    Format {
        /// Name of the input: a file, with the line where that is known.
        what: String,
        /// Reason for the failure.
        source: serde_json::Error,
    },
    /// A scenario cannot be used for another reason.
    #[error(transparent)]
    Scenario(falconer_scenario::Error),
    /// The scripted server could not be started.
    #[error("failed to start the scripted server on 127.0.0.1: {0}")]
    Server(#[source] io::Error),
    /// An event that a test waited for did not happen in time.
    #[error("waited {after:?} for {what}, in vain: {seen}")]
    Timeout {
        /// Awaited event.
        what: String,
        /// Time that was waited.
        after: Duration,
        /// Events up to then.
        seen: String,
    },
    /// An executable the test needs is not there.
    #[error("{what} not found: {looked}\nhint: {hint}")]
    NotFound {
        /// Kind of thing that was looked for.
        what: &'static str,
        /// Places that were searched.
        looked: String,
        /// Advice.
        hint: String,
    },
}

impl From<falconer_scenario::Error> for Error {
    fn from(error: falconer_scenario::Error) -> Self {
        match error {
            falconer_scenario::Error::Read { path, source } => Self::Read { path, source },
            falconer_scenario::Error::Format { what, source } => Self::Format { what, source },
            other => Self::Scenario(other),
        }
    }
}
