//! Registering hooks with `initialize`.

use crate::id::HookCallbackId;
use crate::number::Number;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// Callbacks for the calls that match.
    pub struct HookMatcher {
        /// A tool name or a pattern; everything without one.
        pub matcher ? String,
        pub hook_callback_ids: Vec<HookCallbackId> => "hookCallbackIds",
        /// Seconds.
        pub timeout ? Number,
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
    /// What happens if a hook fails.
    pub enum OnFailure {
        /// As if it had no opinion: the engine's default.
        Continue = "continue",
        /// As if it had said no.
        Block = "block",
    }
}
