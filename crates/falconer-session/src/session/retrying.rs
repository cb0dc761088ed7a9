//! Turns that failed for a passing reason are tried again.

use std::time::Duration;

use falconer_event::{Body, ItemContent, Retry, Source};
use tokio::time::Instant;

use super::recorder::Recorder;
use super::turns::Sent;
use crate::engine::TurnFailure;
use crate::limits::{Attempt, Retries, Verdict, is_side_effect, wanted_wait};
use crate::message::MessageId;

/// What a run knows about trying turns again.
pub(super) struct Retrying {
    policy: Retries,
    /// Messages to be sent again, and when.
    due: Option<(Instant, Vec<Sent>)>,
    waited: Duration,
    turn: Turn,
}

/// The turn under way.
#[derive(Debug, Default)]
struct Turn {
    had_side_effect: bool,
    /// The wait the service asked for.
    wanted_wait: Option<Duration>,
    /// Attempts the engine made again by itself.
    engine_retries: u32,
}

impl Retrying {
    pub(super) fn new(policy: Retries) -> Self {
        Self {
            policy,
            due: None,
            waited: Duration::ZERO,
            turn: Turn::default(),
        }
    }

    /// Returns `true` if messages wait to be sent again.
    pub(super) fn is_waiting(&self) -> bool {
        self.due.is_some()
    }

    /// Returns when messages are to be sent again.
    pub(super) fn when(&self) -> Option<Instant> {
        self.due.as_ref().map(|(when, _)| *when)
    }

    /// Notes what an event means for another attempt; `now` is in RFC 3339.
    pub(super) fn observe(&mut self, body: &Body, now: impl FnOnce() -> String) {
        match body {
            Body::Retry(_) | Body::Limit(_) => {
                let is_retry = matches!(body, Body::Retry(_));
                self.turn.engine_retries += u32::from(is_retry);
                self.turn.wanted_wait = wanted_wait(body, now().parse().ok());
            }
            Body::ItemStarted(item) | Body::ItemCompleted(item) => {
                if let ItemContent::Action(action) = &item.content {
                    self.turn.had_side_effect |= is_side_effect(action);
                }
            }
            _ => {}
        }
    }

    /// The turn is over; the next one begins with a clean record.
    pub(super) fn turn_over(&mut self) {
        self.turn = Turn::default();
    }

    /// Decides whether messages are sent again; `left` is the time the run still has.
    pub(super) fn try_again(
        &mut self,
        failure: &TurnFailure,
        messages: Vec<Sent>,
        left: Option<Duration>,
        recorder: &mut Recorder,
    ) {
        let Some(made) = messages.iter().map(|message| message.attempts).max() else {
            return;
        };
        let attempt = Attempt {
            // Engines retry by themselves; together they make no more attempts than one would.
            made: made.saturating_add(self.turn.engine_retries),
            waited: self.waited,
            left,
            retry_after: self.turn.wanted_wait.take(),
            had_side_effect: self.turn.had_side_effect,
            chance: chance(),
        };
        let Verdict::Again(delay) = self.policy.decide(&attempt) else {
            return;
        };
        self.waited += delay;
        let mut retry = Retry::default();
        retry.attempt = made.into();
        retry.max_attempts = self.policy.attempts.into();
        retry.delay_ms = delay.as_secs_f64() * 1000.0;
        retry.status = failure.status.map(u64::from);
        retry.error = Some(failure.text.clone());
        recorder.note(Source::Falconer, Body::Retry(retry));
        self.due = Some((Instant::now() + delay, messages));
    }

    /// Takes out what is to be sent now.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<Sent> {
        let due = self.due.take_if(|(when, _)| *when <= now);
        due.map(|(_, messages)| messages).unwrap_or_default()
    }

    /// Takes back a message that waits for being sent again.
    pub(super) fn cancel(&mut self, id: &MessageId) -> Option<Sent> {
        let (_, messages) = self.due.as_mut()?;
        let place = messages.iter().position(|message| message.id == *id)?;
        let taken = messages.remove(place);
        if messages.is_empty() {
            self.due = None;
        }
        Some(taken)
    }

    /// Nothing is sent again any more.
    pub(super) fn give_up(&mut self) {
        self.due = None;
    }
}

/// Returns a number between 0 and 1, different each time.
fn chance() -> f64 {
    let (high, _) = uuid::Uuid::new_v4().as_u64_pair();
    (high >> 32) as f64 / f64::from(u32::MAX)
}
