//! What can go wrong in the test kit itself, as one enum.

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
        /// Why not.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("failed to write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A scenario, script or cassette is not what its format asks for.
    #[error("{what} is not valid: {source}")]
    Format {
        /// What was read: a file, with the line where that is known.
        what: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A scenario cannot be used for another reason.
    #[error(transparent)]
    Scenario(falconer_scenario::Error),
    /// The scripted server could not be started.
    #[error("failed to start the scripted server on 127.0.0.1: {0}")]
    Server(#[source] io::Error),
    /// What a test waited for did not happen in time.
    #[error("waited {after:?} for {what}, in vain: {seen}")]
    Timeout {
        /// What was waited for.
        what: String,
        /// How long.
        after: Duration,
        /// What had happened by then.
        seen: String,
    },
    /// An executable the test needs is not there.
    #[error("{what} not found: {looked}\nhint: {hint}")]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// Where it was looked for.
        looked: String,
        /// What to do.
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
