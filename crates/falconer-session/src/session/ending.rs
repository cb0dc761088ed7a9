//! The end of a run: decided, seen through, and told last.

use falconer_event::{End, Failure};
use falconer_protocol::Message;
use tokio::time::Instant;

use super::driving::{Engine, Step};
use super::live::Live;
use crate::failure::{RunFailure, of_error};
use crate::spec::Lifetime;

/// The run is to end.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) failure: Option<Failure>,
    pub(super) cancelled: bool,
    /// How long the turn under way may still take.
    pub(super) until: Instant,
}

impl Live {
    pub(super) fn outlives_handles(&self) -> bool {
        self.lifetime == Lifetime::UntilIdle && self.turns.is_touched()
    }

    pub(super) fn handles_gone(&mut self) -> Step {
        match self.outlives_handles() && !self.recorder.outlet().is_closed() {
            true => Step::GoOn,
            false => self.close(),
        }
    }

    pub(super) fn close(&mut self) -> Step {
        let is_done = self.turns.is_done();
        let ending = self.ending.get_or_insert_with(|| Ending {
            failure: None,
            cancelled: false,
            until: Instant::now(),
        });
        if !is_done {
            // Somebody stopped it before it was done.
            ending.cancelled = ending.failure.is_none();
        }
        Step::End
    }

    /// Ends the run now. If it was to end already, the first reason counts.
    pub(super) fn end(&mut self, failure: Option<Failure>) -> Step {
        self.ending.get_or_insert_with(|| Ending {
            failure,
            cancelled: false,
            until: Instant::now(),
        });
        Step::End
    }

    pub(super) fn idle(&mut self) -> Step {
        self.watch.settling_since = None;
        match self.lifetime == Lifetime::UntilIdle && self.turns.is_done() && self.retry.is_none() {
            true => self.end(None),
            false => Step::GoOn,
        }
    }

    /// Ends the engine, reads what it still said, and says how the run ended.
    pub(super) async fn see_out(&mut self, engine: Engine) -> End {
        let Engine {
            client,
            mut messages,
            mut error,
            ..
        } = engine;
        self.jobs.abort_all();
        self.deny_pending("falconer", "the run ended, so this was denied");
        let (closed, ()) = tokio::join!(client.close(), async {
            while let Some(message) = messages.next().await {
                match message {
                    Ok(message) => self.message_of_the_end(&message),
                    Err(failed) => error = Some(failed),
                }
            }
        });
        let mut end = End::default();
        end.stderr = closed.map(|closed| closed.stderr).unwrap_or_default();
        match self.ending.take() {
            Some(ending) => {
                // Who wanted an end does not get a new beginning.
                self.renewal = None;
                end.failure = ending.failure;
                end.cancelled = ending.cancelled;
            }
            None => {
                let ended = |error| of_error(error, RunFailure::EngineEnded);
                end.failure = error.as_ref().map(ended);
            }
        }
        if self.not_found {
            let text = "the conversation to resume does not exist any more; start a new one";
            end.failure = Some(RunFailure::SessionNotFound.with(text));
        }
        end
    }

    /// What comes while the engine is seen out is recorded, but nothing new begins.
    fn message_of_the_end(&mut self, message: &Message) {
        let is_failure = matches!(message, Message::Result(result) if result.is_error);
        if self.session.is_none() && !is_failure {
            // Without its lock a run must not be announced.
            return;
        }
        self.meter.observe(message);
        if let Message::Result(result) = message {
            self.note_missing(result);
            if self.not_found {
                let answered = self.turns.answered(result);
                self.unanswered.extend(answered);
            }
        }
        let mut drafts = self.recorder.drafts(message);
        self.look_at(&mut drafts);
        self.recorder.record_message(drafts, message);
    }

    pub(super) fn finish(mut self, end: End) {
        self.deny_pending("falconer", "the run ended, so this was denied");
        self.prompts_over("the run ended before it was sent");
        // Given back first: who hears of the end may want to go on at once.
        drop(self.lock.take());
        self.recorder.end(end);
    }
}
