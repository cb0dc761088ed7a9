//! The end of a run: decided, seen through, and told last.

use std::time::Duration;

use falconer_event::{End, Failure};
use falconer_protocol::Message;
use tokio::time::Instant;

use super::driving::{Engine, Step};
use super::live::Live;
use crate::failure::{RunFailure, of_error};
use crate::spec::Lifetime;

/// How long an engine may take to stop its turn when the run is closed.
const STOPPING: Duration = Duration::from_secs(2);

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

    pub(super) fn handles_gone(&mut self, engine: &Engine) -> Step {
        match self.outlives_handles() && !self.recorder.outlet().is_closed() {
            true => Step::GoOn,
            false => self.close(engine),
        }
    }

    /// Whether somebody stops the run before it is done.
    pub(super) fn is_closing(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| ending.cancelled)
    }

    /// Somebody wants the end. The turn under way is interrupted: an engine whose input just
    /// ends would finish it, and ask the model again.
    pub(super) fn close(&mut self, engine: &Engine) -> Step {
        let is_done = self.turns.is_done();
        if let Some(ending) = &mut self.ending {
            ending.cancelled |= !is_done && ending.failure.is_none();
            return Step::End;
        }
        let is_at_work = self.turns.is_at_work();
        self.retry = None;
        self.ending = Some(Ending {
            failure: None,
            cancelled: !is_done,
            until: Instant::now() + STOPPING,
        });
        self.leave_pending();
        self.prompts_unsent("the run ended before it was sent");
        if !is_at_work {
            return Step::End;
        }
        self.gate.close("the session is being stopped".to_owned());
        let client = engine.client.clone();
        self.jobs.spawn(async move {
            // The run ends either way: by this, or when the time to stop is over.
            let _ = client.interrupt_all().await;
            None
        });
        Step::GoOn
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
