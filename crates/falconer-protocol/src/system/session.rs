//! The state of the session.

use crate::id::{MessageUuid, SessionId};
use crate::permission::PermissionMode;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// What the engine is busy with; `status` is `null` when it is done.
    pub struct StatusMessage ["type" = "system", "subtype" = "status"] {
        pub status ? Status,
        /// The mode, if it changed.
        pub permission_mode ? PermissionMode => "permissionMode",
        pub compact_result ? String,
        pub compact_error ? String,
        pub compact_output_chars ? u64,
        pub user_message_uuids ? Vec<MessageUuid>,
        pub session_id ? SessionId,
        pub uuid ? MessageUuid,
    }
}

open_enum! {
    /// What the engine is busy with.
    pub enum Status {
        Requesting = "requesting",
        Compacting = "compacting",
    }
}

wire_struct! {
    /// The session starts or stops working, or waits for the host.
    pub struct SessionStateChanged ["type" = "system", "subtype" = "session_state_changed"] {
        pub state: SessionState,
        /// The host asked for it; not meant for the user.
        pub sdk_host_only ? bool,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

open_enum! {
    /// What a session does.
    pub enum SessionState {
        /// Nothing is queued and no task runs: the run is over.
        Idle = "idle",
        Running = "running",
        RequiresAction = "requires_action",
    }
}

wire_struct! {
    /// Earlier messages were replaced by a summary.
    pub struct CompactBoundary ["type" = "system", "subtype" = "compact_boundary"] {
        pub compact_metadata: CompactMetadata,
        pub logical_parent_uuid ? MessageUuid,
        pub session_id ? SessionId,
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// How much was replaced, and why.
    pub struct CompactMetadata {
        /// `manual` or `auto`.
        pub trigger: String,
        pub pre_tokens ? u64,
        pub post_tokens ? u64,
        pub cumulative_dropped_tokens ? u64,
        pub duration_ms ? u64,
        pub preserved_segment ? PreservedSegment,
        pub preserved_messages ? serde_json::Value,
    }
}

wire_struct! {
    /// The messages that were kept.
    pub struct PreservedSegment {
        pub head_uuid: MessageUuid,
        pub anchor_uuid: MessageUuid,
        pub tail_uuid: MessageUuid,
    }
}

wire_struct! {
    /// The session has a new title.
    pub struct SessionTitleChanged ["type" = "system", "subtype" = "session_title_changed"] {
        pub title ? String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// Parts of the transcript could not be written: the disk is full.
    pub struct SessionWritesLost ["type" = "system", "subtype" = "session_writes_lost"] {
        pub error_code: String,
        pub lost * Vec<String>,
        pub transcript_session_ids ? Vec<SessionId>,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The host's copy of the transcript could not be written.
    pub struct MirrorError ["type" = "system", "subtype" = "mirror_error"] {
        pub error: String,
        pub key ? MirrorKey,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// Which copy.
    pub struct MirrorKey {
        pub project_key: String => "projectKey",
        pub session_id: SessionId => "sessionId",
        pub subpath ? String,
    }
}

wire_struct! {
    /// The process is going away.
    pub struct WorkerShuttingDown ["type" = "system", "subtype" = "worker_shutting_down"] {
        pub reason: String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}
