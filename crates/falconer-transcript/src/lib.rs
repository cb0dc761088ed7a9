//! The session files of the Claude Code CLI, read and written in one place.
//!
//! An engine writes a session through [`Transcript`] and takes one up again with it; its
//! [`Checkpoints`] keep files as they were before a tool changed them. [`sessions`] lists, reads
//! and changes the transcripts below a configuration directory. [`mirror`] keeps copies of them
//! elsewhere and brings them back. The crate `falconer` re-exports these two.
//!
//! Below them are the parts that all share: lines, entries, the index of a transcript, the name of
//! a project's directory, and the one way to append.
//!
//! Not here: the agent's loop, the connection to an engine, HTTP.

mod append;
mod compaction;
mod entry;
mod error;
mod git;
mod id;
mod index;
mod lines;
pub mod mirror;
mod private_file;
mod project_key;
mod session_entry;
pub mod sessions;
mod store_error;
mod text;
mod time;
mod transcript;

pub use error::SessionError;
pub use falconer_protocol::SessionId;
pub use id::{check_session_id, new_session_id};
pub use index::SkippedLines;
pub use private_file::write_private;
pub use project_key::project_key;
pub use transcript::{
    AssistantEntry, AttachmentEntry, Beginning, Checkpoints, Compaction, CostState, Entry, Fork,
    Loaded, OpenError, OpenRequest, Opened, Persistence, PromptEntry, RecordedDecision, Rewind,
    RewindError, SessionPlace, Stamp, ToolResultEntry, Transcript, config_dir,
};
