//! Sessions on disk: listing, reading, forking and changing what the CLI keeps.
//!
//! [`Sessions`] works on the transcripts below a configuration directory and needs no CLI.
//! Results equal those of the official SDKs on the same files; where the TypeScript and the
//! Python SDK differ, they equal the TypeScript one, which agrees with the CLI. The same
//! functions on a session store are in [`crate::mirror`].
//!
//! Starting or resuming a session is the client's business.

mod archive;
mod chain;
mod change;
mod cost;
mod directory;
mod ends;
mod files;
mod fork;
mod info;
mod list;
mod locate;
mod messages;
mod prompt;
mod recover;
mod scan;
mod subagents;
mod worktrees;

pub use directory::Sessions;
pub use fork::ForkOptions;
pub use info::SessionInfo;
pub use list::{ListOptions, Programmatic, Worktrees};
pub use messages::{MessageKind, Messages, SessionMessage, SystemMessages};

pub(crate) use change::{no_tag_entry, tag_entry, title_entry};
pub(crate) use ends::Ends;
pub(crate) use fork::Fork;
pub(crate) use info::{info_from_ends, title};
pub(crate) use prompt::{FirstPrompt, UserEntry, first_prompt, may_be_prompt};
pub(crate) use subagents::{Parents, metadata_path, parents_in, transcripts};
