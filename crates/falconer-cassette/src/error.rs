//! Reasons why a cassette cannot be read.

use std::io;
use std::path::PathBuf;

/// A cassette that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read.
    #[error("failed to read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A line is not an entry of a cassette.
    #[error("{what} is not valid: {source}")]
    Format {
        /// The line, with the file if there is one.
        what: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}
