//! A conversation that is lost is begun anew, once.

use falconer_event::End;

use super::live::Live;
use super::turns::Sent;
use crate::failure::RunFailure;
use crate::spec::{LastExchange, OnMissing};

/// How a run goes on whose conversation is gone.
pub(super) struct Renewing {
    /// Finds what was said last; none if the run is not begun anew.
    last: Option<LastExchange>,
    /// Messages to a conversation that is gone.
    unanswered: Vec<Sent>,
}

impl Renewing {
    pub(super) fn new(on_missing: OnMissing, is_possible: bool) -> Self {
        let last = match on_missing {
            OnMissing::StartAnew(last) if is_possible => Some(last),
            OnMissing::StartAnew(_) | OnMissing::Fail => None,
        };
        Self {
            last,
            unanswered: Vec::new(),
        }
    }

    /// Returns `true` if the run may begin anew.
    pub(super) fn is_possible(&self) -> bool {
        self.last.is_some()
    }

    /// Keeps messages that the lost conversation did not answer.
    pub(super) fn keep(&mut self, unanswered: Vec<Sent>) {
        self.unanswered.extend(unanswered);
    }

    /// The run ends for another reason.
    pub(super) fn give_up(&mut self) {
        self.last = None;
    }
}

impl Live {
    /// Prepares a run whose conversation is gone for another engine; `false` if it is over. Only
    /// a run that had not begun begins anew.
    pub(super) async fn begin_anew(&mut self, end: &End) -> bool {
        let class = end.failure.as_ref().map(|failure| failure.class.as_str());
        if class != Some(RunFailure::SessionNotFound.class()) || self.identity.is_known() {
            return false;
        }
        let Some(last) = self.renewing.last.take() else {
            return false;
        };
        let last = last.await;
        let gone = self.identity.forget();
        let what = match &last {
            Some(_) => "a new one is started with a summary of the last exchange",
            None => "a new one is started",
        };
        let text = format!("the conversation {gone} does not exist any more; {what}");
        self.recorder.warn("session_not_found", &text);
        let unanswered = std::mem::take(&mut self.renewing.unanswered);
        self.prompts.start_anew(unanswered, last);
        true
    }
}
