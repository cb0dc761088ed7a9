//! Hooks from settings files; hooks of the host never produce these.

use crate::id::{MessageUuid, SessionId};
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// A hook starts.
    pub struct HookStarted ["type" = "system", "subtype" = "hook_started"] {
        /// Id of this run of the hook, shared by its three kinds of lines.
        pub hook_id: String,
        /// Event and matched tool or source, such as `PreToolUse:Bash`.
        pub hook_name ? String,
        /// Event, as in [`HookEvent`](crate::hook::HookEvent).
        pub hook_event ? String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A hook wrote something.
    pub struct HookProgress ["type" = "system", "subtype" = "hook_progress"] {
        /// Id of this run of the hook.
        pub hook_id: String,
        /// Event and matched tool or source, such as `PreToolUse:Bash`.
        pub hook_name ? String,
        /// Event, as in [`HookEvent`](crate::hook::HookEvent).
        pub hook_event ? String,
        /// Standard output so far.
        pub stdout ? String,
        /// Standard error so far.
        pub stderr ? String,
        /// Both together.
        pub output ? String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A hook is over.
    pub struct HookResponse ["type" = "system", "subtype" = "hook_response"] {
        /// Id of this run of the hook.
        pub hook_id: String,
        /// Event and matched tool or source, such as `PreToolUse:Bash`.
        pub hook_name ? String,
        /// Event, as in [`HookEvent`](crate::hook::HookEvent).
        pub hook_event ? String,
        /// Standard output and error together.
        pub output ? String,
        /// Standard output.
        pub stdout ? String,
        /// Standard error.
        pub stderr ? String,
        /// Exit code; absent if the hook was ended.
        pub exit_code ? i64,
        /// Result of the run, derived from the exit code.
        pub outcome ? HookOutcome,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

open_enum! {
    /// The end of a hook.
    pub enum HookOutcome {
        /// The hook ran; exit code 0.
        Success = "success",
        /// The hook failed or blocked.
        Error = "error",
        /// The hook was ended before it was done.
        Cancelled = "cancelled",
    }
}
