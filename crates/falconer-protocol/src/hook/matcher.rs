//! Registering hooks with `initialize`.

use crate::id::HookCallbackId;
use crate::number::Number;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// Callbacks for the calls that match.
    pub struct HookMatcher {
        /// Tool name or pattern; absent or `null` matches everything.
        pub matcher ? String,
        /// Ids chosen by the host; the engine asks all of them at once.
        pub hook_callback_ids: Vec<HookCallbackId> => "hookCallbackIds",
        /// Seconds to wait for an answer. A `PreToolUse` hook that takes longer counts as a denial.
        pub timeout ? Number,
        /// Effect of an error or an invalid answer; absent counts as [`OnFailure::Continue`].
        pub on_failure ? OnFailure => "onFailure",
    }
}

impl HookMatcher {
    /// One callback for everything.
    pub fn new(callback: impl Into<HookCallbackId>) -> Self {
        Self {
            hook_callback_ids: vec![callback.into()],
            ..Self::default()
        }
    }
}

open_enum! {
    /// The effect of a failed hook.
    pub enum OnFailure {
        /// As if it had no opinion: the engine's default.
        Continue = "continue",
        /// As if it had said no.
        Block = "block",
    }
}
