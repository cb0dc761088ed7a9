//! How long a run goes on, and why it ends.

use std::sync::Arc;

use falconer_event::Failure;
use tokio::time::Instant;

use super::gate::Gate;
use crate::engine::Check;
use crate::spec::Lifetime;

/// The course of a run.
pub(super) struct Course {
    lifetime: Lifetime,
    ending: Option<Ending>,
    gate: Arc<Gate>,
}

/// The run is to end.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) failure: Option<Failure>,
    pub(super) cancelled: bool,
    /// How long the turn under way may still take.
    pub(super) until: Instant,
}

impl Course {
    pub(super) fn new(lifetime: Lifetime, gate: Arc<Gate>) -> Self {
        Self {
            lifetime,
            ending: None,
            gate,
        }
    }

    /// Returns `true` if the run ends by itself when everything is done.
    pub(super) fn ends_when_idle(&self) -> bool {
        self.lifetime == Lifetime::UntilIdle
    }

    /// Returns `true` if the run is to end.
    pub(super) fn is_ending(&self) -> bool {
        self.ending.is_some()
    }

    /// Returns `true` if somebody stops the run before it is done.
    pub(super) fn is_closing(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| ending.cancelled)
    }

    /// Returns how long the turn under way may still take, if the run is to end.
    pub(super) fn until(&self) -> Option<Instant> {
        self.ending.as_ref().map(|ending| ending.until)
    }

    /// Returns why no new messages are taken; an empty text if somebody closes the run.
    pub(super) fn winding_down(&self) -> Option<String> {
        let ending = self.ending.as_ref()?;
        let why = ending.failure.as_ref().map(|failure| failure.text.clone());
        Some(why.unwrap_or_default())
    }

    /// The run is to end for this reason, whatever was decided before.
    pub(super) fn wind_down(&mut self, ending: Ending) {
        self.ending = Some(ending);
    }

    /// Somebody closes a run that is to end already; it counts as stopped if it was not done.
    pub(super) fn close_again(&mut self, is_done: bool) {
        if let Some(ending) = &mut self.ending {
            ending.cancelled |= !is_done && ending.failure.is_none();
        }
    }

    /// The run ends now. If it was to end already, the first reason counts.
    pub(super) fn end(&mut self, failure: Option<Failure>) {
        self.ending.get_or_insert_with(|| Ending {
            failure,
            cancelled: false,
            until: Instant::now(),
        });
    }

    pub(super) fn take_ending(&mut self) -> Option<Ending> {
        self.ending.take()
    }

    /// No tool runs any more.
    pub(super) fn close_gate(&self, reason: String) {
        self.gate.close(reason);
    }

    /// Judges a call and answers its check.
    pub(super) fn check(&self, check: Check) -> impl Future<Output = ()> + Send + use<> {
        let gate = self.gate.clone();
        async move {
            let checked = gate.check(&check.call).await;
            check.answer(checked);
        }
    }
}
