//! Time, and limits that are reached.

use falconer_event::{Body, Failure, Limit, Source};
use tokio::time::Instant;

use super::driving::{Engine, Step};
use super::ending::Ending;
use super::live::Live;
use crate::limits::LimitKind;

impl Live {
    /// When something has to be looked at even if nothing happens.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        let limits = match self.ending {
            Some(_) => None,
            None => self.watch.next(&self.limits),
        };
        let retry = self.retry.as_ref().map(|(when, _)| *when);
        let ending = self.ending.as_ref().map(|ending| ending.until);
        [limits, retry, ending, self.pending.next_expiry()]
            .into_iter()
            .flatten()
            .min()
    }

    pub(super) fn time(&mut self, engine: &Engine) -> Step {
        let now = Instant::now();
        for body in self.pending.expire(now) {
            self.recorder.note(Source::Falconer, body);
        }
        self.still_asking();
        self.retry_due(now);
        if let Some(ending) = &self.ending {
            return match ending.until <= now {
                true => Step::End,
                false => Step::GoOn,
            };
        }
        match self.watch.reached(&self.limits, now) {
            Some(kind) => self.trip(engine, kind),
            None => Step::GoOn,
        }
    }

    /// A limit is reached: no more tools, no more prompts, and the turn is interrupted.
    pub(super) fn trip(&mut self, engine: &Engine, kind: LimitKind) -> Step {
        let failure = self.reached(kind);
        let reason = format!("a limit of this run was reached: {}", failure.text);
        self.gate.close(reason.clone());
        self.deny_pending("limit", &reason);
        self.prompts_unsent(&reason);
        self.retry = None;
        let is_over = kind == LimitKind::Grace || !self.turns.is_at_work();
        self.ending = Some(Ending {
            failure: Some(failure),
            cancelled: false,
            until: Instant::now() + self.limits.wind_down,
        });
        if is_over {
            return Step::End;
        }
        let client = engine.client.clone();
        self.jobs.spawn(async move {
            // The turn ends either way: by this, or when the time to wind down is over.
            let _ = client.interrupt_all().await;
            None
        });
        Step::GoOn
    }

    pub(super) fn reached(&mut self, kind: LimitKind) -> Failure {
        let failure = Failure::new(kind.class(), kind.text(&self.limits)).hint(kind.advice());
        let mut limit = Limit::default();
        limit.kind = kind.class().to_owned();
        limit.reached = true;
        limit.text.clone_from(&failure.text);
        self.recorder.note(Source::Falconer, Body::Limit(limit));
        failure
    }
}
