//! Keeps a stop hook from keeping the agent at work for ever.

use std::sync::atomic::{AtomicU32, Ordering};

use falconer_protocol::hook::{HookInput, HookOutput};

/// Counts how often in a row our hooks have blocked a stop.
#[derive(Debug)]
pub(super) struct StopRounds {
    limit: u32,
    rounds: AtomicU32,
}

impl StopRounds {
    pub(super) fn new(limit: u32) -> Self {
        Self {
            limit,
            rounds: AtomicU32::new(0),
        }
    }

    /// Passes the output on, or takes the block out of it when the limit is reached.
    pub(super) fn limit(&self, input: &HookInput, output: HookOutput) -> HookOutput {
        let Some(already_blocked) = input.stop_hook_active() else {
            return output;
        };
        if !already_blocked {
            self.rounds.store(0, Ordering::Relaxed);
        }
        if !output.is_block() {
            return output;
        }
        if self.rounds.fetch_add(1, Ordering::Relaxed) >= self.limit {
            tracing::warn!(
                limit = self.limit,
                "a stop was blocked too often; the agent may stop"
            );
            return HookOutput::default();
        }
        output
    }
}
