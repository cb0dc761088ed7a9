//! The session files of the Claude Code CLI, read and written in one place.
//!
//! [`sessions`] lists, reads and changes the transcripts below a configuration directory.
//! [`mirror`] keeps copies of them elsewhere and brings them back. The crate `falconer`
//! re-exports both.
//!
//! Not here: the agent's loop, the connection to an engine, HTTP.

pub mod mirror;
mod private_file;
pub mod sessions;

pub use private_file::write_private;
