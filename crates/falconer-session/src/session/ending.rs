//! The end of a run: decided, seen through, and told last.

use std::future::poll_fn;
use std::time::Duration;

use falconer_event::End;
use tokio::time::Instant;

use super::course::Ending;
use super::driving::{Driven, Step};
use super::live::Live;
use crate::engine::{Happening, Room};
use crate::failure::RunFailure;
use crate::limits::LimitKind;

/// How long an engine may take to stop its turn when the run is closed.
const STOPPING: Duration = Duration::from_secs(2);

impl Live {
    pub(super) fn outlives_handles(&self) -> bool {
        self.course.ends_when_idle() && self.prompts.is_touched()
    }

    pub(super) fn handles_gone(&mut self, engine: &Driven) -> Step {
        if self.outlives_handles() && !self.recorder.outlet().is_closed() {
            Step::GoOn
        } else {
            self.close(engine)
        }
    }

    /// Somebody wants the end. The turn under way is interrupted: an engine whose input just
    /// ends would finish it, and ask the model again.
    pub(super) fn close(&mut self, engine: &Driven) -> Step {
        let is_done = self.prompts.is_done();
        if self.course.is_ending() {
            self.course.close_again(is_done);
            return Step::End;
        }
        let is_at_work = self.prompts.is_at_work();
        self.retrying.give_up();
        self.course.wind_down(Ending {
            failure: None,
            cancelled: !is_done,
            until: Instant::now() + STOPPING,
        });
        self.requests.leave_all(&mut self.recorder);
        let unsent = "the run ended before it was sent";
        self.prompts.drop_unsent(unsent, &mut self.recorder);
        if !is_at_work {
            return Step::End;
        }
        self.course
            .close_gate("the session is being stopped".to_owned());
        self.stop_turn(engine);
        Step::GoOn
    }

    /// A limit is reached: no more tools, no more prompts, and the turn is interrupted.
    pub(super) fn trip(&mut self, engine: &Driven, kind: LimitKind) -> Step {
        let recorder = &mut self.recorder;
        let failure = self.bounds.tell(kind, recorder);
        let reason = format!("a limit of this run was reached: {}", failure.text);
        self.course.close_gate(reason.clone());
        self.requests.deny_all("limit", &reason, recorder);
        self.prompts.drop_unsent(&reason, recorder);
        self.retrying.give_up();
        let is_over = kind == LimitKind::Grace || !self.prompts.is_at_work();
        self.course.wind_down(Ending {
            failure: Some(failure),
            cancelled: false,
            until: Instant::now() + self.bounds.limits().wind_down,
        });
        if is_over {
            return Step::End;
        }
        self.stop_turn(engine);
        Step::GoOn
    }

    /// The run ends either way: by this, or when the time for it is over.
    fn stop_turn(&mut self, engine: &Driven) {
        let stopping = engine.controls.stop();
        self.jobs.spawn(async move {
            let _ = stopping.await;
            None
        });
    }

    /// The time has come for something.
    pub(super) fn time(&mut self, engine: &Driven) -> Step {
        let now = Instant::now();
        self.requests.expire(now, &mut self.recorder);
        self.bounds
            .look(self.prompts.is_at_work(), self.requests.is_open());
        let due = self.retrying.take_due(now);
        self.prompts.again(due);
        if let Some(until) = self.course.until() {
            return if until <= now { Step::End } else { Step::GoOn };
        }
        match self.bounds.reached(now) {
            Some(kind) => self.trip(engine, kind),
            None => Step::GoOn,
        }
    }

    /// The engine has nothing left to do.
    pub(super) fn idle(&mut self) -> Step {
        self.bounds.settled();
        if self.course.ends_when_idle() && self.is_done() {
            self.course.end(None);
            return Step::End;
        }
        Step::GoOn
    }

    /// Ends the engine, reads what it still said, and says how the run ended.
    pub(super) async fn see_out(&mut self, engine: Driven) -> End {
        let Driven {
            mut stream,
            controls,
            mut stopped,
            ..
        } = engine;
        self.jobs.abort_all();
        let denied = "the run ended, so this was denied";
        self.requests
            .deny_all("falconer", denied, &mut self.recorder);
        // Questions that still come are left to the engine, which ends.
        let mut left = Vec::new();
        let (stderr, ()) = tokio::join!(controls.close(), async {
            while let Some(next) = poll_fn(|cx| stream.poll_next(cx, Room::Free)).await {
                match next {
                    Happening::Said(said) => self.said_at_the_end(*said),
                    Happening::Failed(failed) => stopped = Some(failed),
                    asked @ (Happening::Asked(_) | Happening::Checked(_)) => left.push(asked),
                }
            }
        });
        let mut end = End::default();
        end.stderr = stderr;
        match self.course.take_ending() {
            Some(ending) => {
                // Who wanted an end does not get a new beginning.
                self.renewing.give_up();
                end.failure = ending.failure;
                end.cancelled = ending.cancelled;
            }
            None => end.failure = stopped.map(|stopped| stopped.failure),
        }
        if self.identity.is_missing() {
            let text = "the conversation to resume does not exist any more; start a new one";
            end.failure = Some(RunFailure::SessionNotFound.with(text));
        }
        end
    }
}
