//! The state of the session.

use crate::id::{MessageUuid, SessionId};
use crate::permission::PermissionMode;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// The start or end of something slow, or a change of the permission mode.
    pub struct StatusMessage ["type" = "system", "subtype" = "status"] {
        /// Activity that starts; `null` if one ended or the line is about something else.
        pub status ? Status,
        /// New mode, if it changed.
        pub permission_mode ? PermissionMode => "permissionMode",
        /// `success` or `failed`, at the end of a compaction.
        pub compact_result ? String,
        /// Reason, with `failed`.
        pub compact_error ? String,
        /// Length of the summary so far, in characters.
        pub compact_output_chars ? u64,
        /// Prompts of the turn that carried a uuid.
        pub user_message_uuids ? Vec<MessageUuid>,
        /// Session that wrote this line.
        pub session_id ? SessionId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
    }
}

open_enum! {
    /// Something slow that the engine does.
    pub enum Status {
        /// An API request was sent. Only with partial messages switched on.
        Requesting = "requesting",
        /// Earlier messages are being replaced by a summary.
        Compacting = "compacting",
    }
}

wire_struct! {
    /// The session starts or stops working, or waits for the host.
    pub struct SessionStateChanged ["type" = "system", "subtype" = "session_state_changed"] {
        /// New state.
        pub state: SessionState,
        /// `true` if the line comes because the host's environment asked for it; not meant for
        /// users.
        pub sdk_host_only ? bool,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

open_enum! {
    /// The activity of a session.
    pub enum SessionState {
        /// Nothing is queued and no task runs: the run is over.
        Idle = "idle",
        /// A turn is running or about to start.
        Running = "running",
        /// The host has to answer a request before the turn goes on.
        RequiresAction = "requires_action",
    }
}

wire_struct! {
    /// Earlier messages were replaced by a summary.
    pub struct CompactBoundary ["type" = "system", "subtype" = "compact_boundary"] {
        /// Size and cause.
        pub compact_metadata: CompactMetadata,
        /// Last line before the boundary.
        pub logical_parent_uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// The size and cause of a compaction.
    pub struct CompactMetadata {
        /// `manual` for `/compact`, or `auto`.
        pub trigger: String,
        /// Tokens before; advisory.
        pub pre_tokens ? u64,
        /// Tokens after.
        pub post_tokens ? u64,
        /// Tokens that all compactions of the session have dropped.
        pub cumulative_dropped_tokens ? u64,
        /// Milliseconds the compaction took.
        pub duration_ms ? u64,
        /// Messages that stay beside the summary; absent if none do.
        pub preserved_segment ? PreservedSegment,
        /// The same as a list of ids; counts before `preserved_segment`.
        pub preserved_messages ? serde_json::Value,
    }
}

wire_struct! {
    /// The messages that were kept.
    pub struct PreservedSegment {
        /// First message that stays.
        pub head_uuid: MessageUuid,
        /// Message after which they are put.
        pub anchor_uuid: MessageUuid,
        /// Last message that stays.
        pub tail_uuid: MessageUuid,
    }
}

wire_struct! {
    /// The session has a new title.
    pub struct SessionTitleChanged ["type" = "system", "subtype" = "session_title_changed"] {
        /// New title.
        pub title ? String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// Parts of the transcript could not be written: the disk is full.
    pub struct SessionWritesLost ["type" = "system", "subtype" = "session_writes_lost"] {
        /// `ENOSPC` for a full disk, `EDQUOT` for a used up quota.
        pub error_code: String,
        /// Kinds of writes that are missing: `transcript`, `global_config`.
        pub lost * Vec<String>,
        /// Sessions whose transcripts have gaps; only with `transcript`.
        pub transcript_session_ids ? Vec<SessionId>,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The host's copy of the transcript could not be written.
    pub struct MirrorError ["type" = "system", "subtype" = "mirror_error"] {
        /// Reason for people.
        pub error: String,
        /// Transcript that the copy belongs to.
        pub key ? MirrorKey,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The transcript that a copy belongs to.
    pub struct MirrorKey {
        /// Name derived from the working directory.
        pub project_key: String => "projectKey",
        /// Session of the transcript.
        pub session_id: SessionId => "sessionId",
        /// Path below the session's directory, for transcripts of sub-agents.
        pub subpath ? String,
    }
}

wire_struct! {
    /// The process is going away.
    pub struct WorkerShuttingDown ["type" = "system", "subtype" = "worker_shutting_down"] {
        /// Reason for programs, such as `host_exit`.
        pub reason: String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}
