//! What the engine says, and what follows from it for the session.

use falconer_event::{Body, Draft};

use super::driving::{Driven, Step};
use super::live::Live;
use crate::engine::{Said, TurnEnd};

impl Live {
    pub(super) fn said(&mut self, engine: &Driven, said: Said) -> Step {
        self.bounds.heard();
        if let Some(named) = &said.session
            && let Err(failure) = self.identity.identify(named)
        {
            self.course.end(Some(failure));
            return Step::End;
        }
        self.bounds.used(said.used);
        let mut drafts = said.drafts;
        self.identity.tell_of_the_copy(&mut drafts);
        self.look_at(&mut drafts);
        let answered = said.turn.as_ref().map(|turn| self.prompts.answered(turn));
        self.recorder.record_all(drafts, said.raw);
        if let (Some(turn), Some(answered)) = (&said.turn, answered) {
            self.turn_over(turn, answered);
        }
        for (prompt, fate) in said.prompts {
            self.prompts.step(&prompt, fate, &mut self.recorder);
        }
        match self.bounds.used_up() {
            Some(kind) if !self.course.is_ending() => self.trip(engine, kind),
            // A run that winds down ends with its turn.
            _ if self.course.is_ending() && said.turn.is_some() => Step::End,
            _ => Step::GoOn,
        }
    }

    /// What comes while the engine is seen out is recorded, but nothing new begins.
    pub(super) fn said_at_the_end(&mut self, said: Said) {
        let failure = said.turn.as_ref().and_then(|turn| turn.failure.as_ref());
        if !self.identity.is_known() && failure.is_none() {
            // Without its lock a run must not be announced.
            return;
        }
        self.bounds.used(said.used);
        if let Some(turn) = &said.turn {
            self.identity.note_missing(turn);
            if self.identity.is_missing() {
                let answered = self.prompts.answered(turn);
                self.renewing.keep(answered);
            }
        }
        let mut drafts = said.drafts;
        self.look_at(&mut drafts);
        self.recorder.record_all(drafts, said.raw);
    }

    /// Notes what the events of a message mean for the session itself.
    fn look_at(&mut self, drafts: &mut [Draft]) {
        self.recorder.observe(drafts);
        for draft in drafts {
            self.bounds.observe(&draft.body);
            self.retrying.observe(&draft.body, || self.recorder.now());
            match &mut draft.body {
                Body::TurnStarted(turn) => {
                    self.prompts.name(&mut turn.prompts, &mut self.recorder);
                }
                Body::TurnCompleted(turn) => {
                    self.prompts.name(&mut turn.prompts, &mut self.recorder);
                }
                _ => {}
            }
        }
    }

    fn turn_over(&mut self, turn: &TurnEnd, answered: Vec<super::turns::Sent>) {
        self.identity.note_missing(turn);
        if self.identity.is_missing() {
            self.renewing.keep(answered);
            return;
        }
        if let Some(failure) = turn.failure.as_ref().filter(|failure| failure.is_retryable)
            && !self.course.is_ending()
        {
            let left = self.bounds.left();
            self.retrying
                .try_again(failure, answered, left, &mut self.recorder);
        }
        self.retrying.turn_over();
    }
}
