//! The reasons a process could not be started.

use std::io;
use std::path::PathBuf;

/// The reason a process could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// There is no such program.
    #[error("program {} does not exist{}", program.display(), searched_note(.searched))]
    ProgramMissing {
        /// The program as it was asked for.
        program: PathBuf,
        /// The search path, if the program was given as a bare name.
        searched: Option<String>,
    },
    /// The program exists but may not be executed.
    #[error("program {} cannot be executed: {source}", program.display())]
    ProgramNotExecutable {
        /// The file that was found.
        program: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The program is not something this machine can run: another architecture, no executable
    /// format, or an interpreter or loader that is not installed.
    #[error("program {} is not runnable on this machine: {source}", program.display())]
    ProgramFormat {
        /// The file that was found.
        program: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The working directory is missing, is not a directory, or may not be entered.
    #[error("cannot use working directory {}: {source}", path.display())]
    WorkingDirectory {
        /// The directory.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The program was to be confined and could not be, so it was not run.
    #[error("failed to confine {}: {source}", program.display())]
    NotConfined {
        /// The program as it was asked for.
        program: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Something else failed, such as running out of file descriptors or processes.
    #[error("failed to start {}: cannot {doing}: {source}", program.display())]
    Io {
        /// The program as it was asked for.
        program: PathBuf,
        /// Attempted operation.
        doing: &'static str,
        /// Error of the system.
        source: io::Error,
    },
}

fn searched_note(searched: &Option<String>) -> String {
    match searched {
        Some(path) => format!(" in the search path `{path}`"),
        None => String::new(),
    }
}
