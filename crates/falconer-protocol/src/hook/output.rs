//! The answer of a hook.

use super::HookSpecificOutput;
use crate::number::Number;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// The answer of a hook; the default has no opinion.
    pub struct HookOutput {
        /// `false` ends the turn, after the tool at hand.
        pub continue_ ? bool => "continue",
        pub suppress_output ? bool => "suppressOutput",
        pub stop_reason ? String => "stopReason",
        pub decision ? BlockDecision,
        /// Shown to the user.
        pub system_message ? String => "systemMessage",
        /// Why, for the model.
        pub reason ? String,
        pub terminal_sequence ? String => "terminalSequence",
        pub hook_specific_output ? HookSpecificOutput => "hookSpecificOutput",
        /// The hook goes on by itself; the engine does not wait.
        pub async_ ? bool => "async",
        /// Milliseconds.
        pub async_timeout ? Number => "asyncTimeout",
    }
}

impl HookOutput {
    /// An answer that only this event understands.
    pub fn specific(output: impl Into<HookSpecificOutput>) -> Self {
        Self {
            hook_specific_output: Some(output.into()),
            ..Self::default()
        }
    }

    /// Stops what is about to happen; the model reads `reason`.
    pub fn block(reason: impl Into<String>) -> Self {
        Self {
            decision: Some(BlockDecision::Block),
            reason: Some(reason.into()),
            ..Self::default()
        }
    }
}

open_enum! {
    /// The older way to decide.
    pub enum BlockDecision {
        Block = "block",
        Approve = "approve",
    }
}
