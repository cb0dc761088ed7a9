//! Sessions on disk: listing, reading, forking and changing what the CLI keeps.
//!
//! [`Sessions`] works on the transcripts below a configuration directory and needs no CLI.
//! Results equal those of the official SDKs on the same files; where the TypeScript and the
//! Python SDK differ, they equal the TypeScript one, which agrees with the CLI. The same
//! functions on a [`SessionStore`](crate::mirror::SessionStore) are in [`crate::mirror`].
//!
//! What is not here: starting or resuming a session, which is the client's.

mod archive;
mod chain;
mod change;
mod compaction;
mod cost;
mod directory;
mod ends;
mod entry;
mod error;
mod files;
mod fork;
mod id;
mod info;
mod list;
mod locate;
mod messages;
mod node;
mod project_key;
mod prompt;
mod recover;
mod scan;
mod subagents;
mod text;
mod transcript;
mod worktrees;

pub use directory::Sessions;
pub use error::SessionError;
pub use fork::ForkOptions;
pub use id::SessionId;
pub use info::SessionInfo;
pub use list::{ListOptions, Programmatic, Worktrees};
pub use messages::{MessageKind, Messages, SessionMessage, SystemMessages};
pub use node::SkippedLines;
pub use project_key::project_key;

pub(crate) use archive::now;
pub(crate) use change::{no_tag_entry, tag_entry, title_entry};
pub(crate) use ends::Ends;
pub(crate) use fork::Fork;
pub(crate) use id::check_file_name;
pub(crate) use info::{info_from_ends, parse_time, title};
pub(crate) use prompt::{FirstPrompt, UserEntry, first_prompt, may_be_prompt};
pub(crate) use subagents::{Parents, metadata_path, parents_in, transcripts};
pub(crate) use transcript::{StoredTranscript, Transcript};
