//! Sessions on disk: listing, reading, forking and changing what the CLI keeps.
//!
//! [`Sessions`] works on the transcripts below a configuration directory and needs no CLI.
//! Results equal those of the official SDKs on the same files; where the TypeScript and the
//! Python SDK differ, they equal the TypeScript one, which agrees with the CLI. The same
//! functions on a [`SessionStore`](crate::mirror::SessionStore) are in [`crate::mirror`].
//!
//! Starting or resuming a session is the [`Client`](crate::Client)'s business.

pub use falconer_transcript::sessions::{
    ForkOptions, ListOptions, MessageKind, Messages, Programmatic, SessionInfo, SessionMessage,
    Sessions, SystemMessages, Worktrees,
};
pub use falconer_transcript::{
    SessionError, SessionId, SkippedLines, check_session_id, new_session_id, project_key,
};
