//! The answer of a hook.

use super::HookSpecificOutput;
use crate::number::Number;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// The answer of a hook; the default has no opinion.
    pub struct HookOutput {
        /// `false` ends the turn, after the tool at hand.
        pub continue_ ? bool => "continue",
        /// `true` keeps the hook's output out of the transcript.
        pub suppress_output ? bool => "suppressOutput",
        /// Text for the user, with `continue: false`.
        pub stop_reason ? String => "stopReason",
        /// Decision in the older way; [`HookSpecificOutput`] says more.
        pub decision ? BlockDecision,
        /// Text that is shown to the user.
        pub system_message ? String => "systemMessage",
        /// Reason for `decision`, which the model reads.
        pub reason ? String,
        /// Escape sequence for the CLI's terminal, such as a desktop notice.
        pub terminal_sequence ? String => "terminalSequence",
        /// Answer that only the event at hand understands.
        pub hook_specific_output ? HookSpecificOutput => "hookSpecificOutput",
        /// `true` if the hook goes on by itself: the engine does not wait, and no decision counts.
        pub async_ ? bool => "async",
        /// Milliseconds until the engine gives up on such a hook.
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
        /// Stop what is about to happen.
        Block = "block",
        /// Allow it.
        Approve = "approve",
    }
}
