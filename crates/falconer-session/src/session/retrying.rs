//! Turns that failed for a passing reason are tried again.

use falconer::Failure as TurnFailure;
use falconer_event::{Body, Retry, Source};
use tokio::time::Instant;

use super::live::Live;
use super::turns::Message;
use crate::limits::{Attempt, Verdict};
use crate::message::MessageId;

impl Live {
    pub(super) fn try_again(&mut self, failure: &TurnFailure, messages: Vec<Message>) {
        let Some(made) = messages.iter().map(|message| message.attempts).max() else {
            return;
        };
        let now = Instant::now();
        let attempt = Attempt {
            // Engines retry by themselves; together they make no more attempts than one would.
            made: made.saturating_add(self.engine_retries),
            waited: self.waited,
            left: self.watch.left(&self.limits, now),
            retry_after: self.wanted_wait.take(),
            had_side_effect: self.had_side_effect,
            chance: chance(),
        };
        let Verdict::Again(delay) = self.retries.decide(&attempt) else {
            return;
        };
        self.waited += delay;
        let mut retry = Retry::default();
        retry.attempt = made.into();
        retry.max_attempts = self.retries.attempts.into();
        retry.delay_ms = delay.as_secs_f64() * 1000.0;
        retry.status = failure.status.map(u64::from);
        retry.error = Some(failure.class.to_string());
        self.recorder.note(Source::Falconer, Body::Retry(retry));
        self.retry = Some((now + delay, messages));
    }

    /// Sends what is due.
    pub(super) fn retry_due(&mut self, now: Instant) {
        if let Some((_, messages)) = self.retry.take_if(|(when, _)| *when <= now) {
            for message in messages {
                self.turns.push(message.renamed());
            }
        }
    }

    /// Takes back a message that waits for being sent again.
    pub(super) fn cancel_retry(&mut self, id: &MessageId) -> Option<Message> {
        let (_, messages) = self.retry.as_mut()?;
        let place = messages.iter().position(|message| message.id == *id)?;
        let taken = messages.remove(place);
        if messages.is_empty() {
            self.retry = None;
        }
        Some(taken)
    }
}

/// Between 0 and 1, differently each time.
fn chance() -> f64 {
    let (high, _) = uuid::Uuid::new_v4().as_u64_pair();
    (high >> 32) as f64 / f64::from(u32::MAX)
}
