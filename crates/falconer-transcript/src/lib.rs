//! The session files of the Claude Code CLI, read and written in one place.
//!
//! An engine writes a session through [`Transcript`] and takes one up again with it.
//! [`sessions`] lists, reads and changes the transcripts below a configuration directory.
//! [`mirror`] keeps copies of them elsewhere and brings them back. The crate `falconer`
//! re-exports these two.
//!
//! Not here: the agent's loop, the connection to an engine, HTTP.

pub mod mirror;
mod private_file;
pub mod sessions;
mod transcript;

pub use private_file::write_private;
pub use transcript::{
    AssistantBlock, Attachment, Checkpoints, Compaction, CostState, Entry, Fork, Loaded, OpenError,
    Opened, Origin, PermissionDecision, Persistence, Place, Prompt, Request, Rewind, RewindError,
    Stamp, ToolResult, Transcript, config_dir,
};
