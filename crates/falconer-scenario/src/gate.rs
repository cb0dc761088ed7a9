//! Named gates at which replies wait until a test lets them pass.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tokio::sync::watch;

/// Named gates; clones share them.
///
/// A gate that was released stays open.
#[derive(Debug, Clone)]
pub struct Gates {
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug, Default)]
struct State {
    released: HashSet<String>,
    waiting: HashMap<String, usize>,
}

impl Gates {
    /// Gates that are all closed.
    pub fn new() -> Self {
        Self {
            state: Arc::new(watch::Sender::default()),
        }
    }

    /// Opens a gate for whoever waits there now and later.
    pub fn release(&self, gate: &str) {
        self.state.send_modify(|state| {
            state.released.insert(gate.to_owned());
        });
    }

    /// Waits until the gate is open.
    pub async fn pass(&self, gate: &str) {
        let _waiting = Waiting::new(self, gate);
        let mut states = self.state.subscribe();
        // The sender lives as long as `self`, so this ends only with the release.
        let _ = states.wait_for(|state| state.released.contains(gate)).await;
    }

    /// Waits until something waits at the gate.
    pub async fn reached(&self, gate: &str) {
        let mut states = self.state.subscribe();
        let _ = states
            .wait_for(|state| state.waiting.contains_key(gate))
            .await;
    }
}

impl Default for Gates {
    fn default() -> Self {
        Self::new()
    }
}

/// Counts who waits, also when the wait is given up.
struct Waiting<'a> {
    gates: &'a Gates,
    gate: &'a str,
}

impl<'a> Waiting<'a> {
    fn new(gates: &'a Gates, gate: &'a str) -> Self {
        gates.state.send_modify(|state| {
            *state.waiting.entry(gate.to_owned()).or_default() += 1;
        });
        Self { gates, gate }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.gates.state.send_modify(|state| {
            let Some(count) = state.waiting.get_mut(self.gate) else {
                return;
            };
            *count -= 1;
            if *count == 0 {
                state.waiting.remove(self.gate);
            }
        });
    }
}
