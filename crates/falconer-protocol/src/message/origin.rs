//! The cause of a prompt.

use crate::wire::wire_struct;

wire_struct! {
    /// The cause of a prompt.
    pub struct MessageOrigin {
        /// `human`, `task-notification`, `peer`, `channel`, `coordinator` and others.
        pub kind: String,
        /// Refines `task-notification`: `scheduled-trigger`, `peer-send-message` and others.
        pub subkind ? String,
        /// Part of the engine that wrote the prompt.
        pub producer ? String,
        /// MCP server that delivered the message; with the kind `channel`.
        pub server ? String,
        /// Sender; with the kinds `peer` and `observer`.
        pub from ? String,
        /// `bypass` if the sending session runs tools without asking, else `prompting`; with
        /// `peer`.
        pub from_mode ? String => "fromMode",
        /// Display name of the sender, without control characters; with `peer`.
        pub name ? String,
        /// Session of the sender, in the form its host can open; with `peer`.
        pub from_session ? String => "fromSession",
        /// Task of the sub-agent that sent the message; absent if it came from another session.
        pub sender_task_id ? String => "senderTaskId",
        /// Text of the message without its envelope, as the model reads it; with `peer`.
        pub body ? String,
        /// Process id of the sender as the kernel reports it; with `peer`.
        pub verified_peer_pid ? u64 => "verifiedPeerPid",
        /// Reason a scheduled task ran, such as `scheduled`, `manual` or `retry`.
        pub fire_reason ? String => "fireReason",
        /// [`RunId`](crate::RunId) of the background task that finished.
        pub run_id ? String => "runId",
    }
}

impl MessageOrigin {
    /// A person.
    pub fn human() -> Self {
        Self {
            kind: "human".to_owned(),
            ..Self::default()
        }
    }

    /// Returns `true` if a finished background task caused it.
    pub fn is_task_notification(&self) -> bool {
        self.kind == "task-notification"
    }
}
