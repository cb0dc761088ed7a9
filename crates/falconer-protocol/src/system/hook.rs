//! Hooks from settings files; hooks of the host never produce these.

use crate::id::{MessageUuid, SessionId};
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// A hook starts.
    pub struct HookStarted ["type" = "system", "subtype" = "hook_started"] {
        pub hook_id: String,
        pub hook_name ? String,
        pub hook_event ? String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A hook wrote something.
    pub struct HookProgress ["type" = "system", "subtype" = "hook_progress"] {
        pub hook_id: String,
        pub hook_name ? String,
        pub hook_event ? String,
        pub stdout ? String,
        pub stderr ? String,
        pub output ? String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A hook is over.
    pub struct HookResponse ["type" = "system", "subtype" = "hook_response"] {
        pub hook_id: String,
        pub hook_name ? String,
        pub hook_event ? String,
        pub output ? String,
        pub stdout ? String,
        pub stderr ? String,
        pub exit_code ? i64,
        pub outcome ? HookOutcome,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

open_enum! {
    /// How a hook ended.
    pub enum HookOutcome {
        Success = "success",
        Error = "error",
        Cancelled = "cancelled",
    }
}
