//! Ending a turn before it is done, and telling who asked for it at the right moment.

use std::sync::{Arc, Mutex, PoisonError};

use falconer_protocol::control::ControlResponse;
use tokio_util::sync::CancellationToken;

use crate::frame::Speaker;

/// Why a turn ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The host or a signal said so.
    User,
    /// A prompt that cannot wait.
    Preempted,
}

/// The lever by which a turn is ended. Cheap to clone; all clones are the same lever.
///
/// Answers to the requests that pulled it are sent by the turn itself: after it has taken its
/// open questions back and before it says how it ended. Hosts rely on this order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    token: CancellationToken,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    cause: Option<Cause>,
    /// Only tools are running.
    in_tools: bool,
    /// A prompt that cannot wait came while they did.
    preempted_in_tools: bool,
    receipts: Vec<ControlResponse>,
}

impl Interrupt {
    /// Ends the turn. `receipt` is sent when the turn has let go of everything.
    pub(crate) fn pull(&self, cause: Cause, receipt: Option<ControlResponse>) {
        {
            let mut state = self.state();
            state.cause.get_or_insert(cause);
            state.receipts.extend(receipt);
        }
        self.inner.token.cancel();
    }

    /// Ends the turn for a prompt that cannot wait; running tools are waited for, because what
    /// they do is not to be cut in half.
    pub(crate) fn preempt(&self) {
        let waits = {
            let mut state = self.state();
            state.preempted_in_tools = state.in_tools;
            state.in_tools
        };
        if !waits {
            self.pull(Cause::Preempted, None);
        }
    }

    pub(crate) fn tools_begin(&self) {
        self.state().in_tools = true;
    }

    /// The tools are done. True if a prompt has waited for it that cannot wait longer.
    pub(crate) fn tools_end(&self) -> bool {
        let preempted = {
            let mut state = self.state();
            state.in_tools = false;
            std::mem::take(&mut state.preempted_in_tools)
        };
        if preempted {
            self.pull(Cause::Preempted, None);
        }
        preempted
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.inner.token
    }

    pub(crate) fn is_pulled(&self) -> bool {
        self.inner.token.is_cancelled()
    }

    pub(crate) fn cause(&self) -> Cause {
        self.state().cause.unwrap_or(Cause::User)
    }

    /// Sends the answers that wait.
    pub(crate) async fn acknowledge(&self, speaker: &Speaker) {
        let receipts = std::mem::take(&mut self.state().receipts);
        for receipt in receipts {
            speaker.reply(&receipt).await;
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.inner
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
