//! Errors of scenarios, as one enum.

use std::io;
use std::path::PathBuf;

/// Anything that can go wrong with a scenario.
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
    /// A scenario is not what its format asks for.
    #[error("{what} is not valid: {source}")]
    Format {
        /// Name of the input: a file, where there was one.
        what: String,
        /// Reason for the failure.
        source: serde_json::Error,
    },
}
