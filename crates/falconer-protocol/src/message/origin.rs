//! Who caused a prompt.

use crate::wire::wire_struct;

wire_struct! {
    /// Who caused a prompt.
    pub struct MessageOrigin {
        /// `human`, `task-notification`, `peer`, `channel`, `coordinator` and others.
        pub kind: String,
        pub subkind ? String,
        pub server ? String,
        pub from ? String,
        pub from_mode ? String => "fromMode",
        pub name ? String,
        pub from_session ? String => "fromSession",
        pub sender_task_id ? String => "senderTaskId",
        pub body ? String,
        pub verified_peer_pid ? u64 => "verifiedPeerPid",
        pub fire_reason ? String => "fireReason",
        pub run_id ? String => "runId",
    }
}

impl MessageOrigin {
    /// Whether a finished background task caused it.
    pub fn is_task_notification(&self) -> bool {
        self.kind == "task-notification"
    }
}
