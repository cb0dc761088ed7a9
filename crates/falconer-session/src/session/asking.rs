//! What the engine asks.

use std::path::Path;

use falconer_event::Source;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::gate::Judged;
use super::live::Live;
use crate::answer::Answer;
use crate::pending::{Around, Ask, Asked};

impl Live {
    pub(super) fn asked(&mut self, asked: Asked) {
        match asked {
            Asked::Request {
                ask,
                judged,
                withdrawn,
            } => self.request(ask, judged, withdrawn),
            // Who asked may be gone; then there is nobody to tell.
            Asked::Call(reply) => drop(reply.send(())),
            Asked::Warning(kind, text) => self.warn(kind, &text),
        }
    }

    fn request(&mut self, ask: Ask, judged: Judged, withdrawn: CancellationToken) {
        let shell = judged.cwd.as_deref().and_then(Path::to_str);
        let around = Around {
            within: self.answer_within,
            cwd: shell.or(self.cwd.as_deref()),
            needs_person: judged.needs_person,
            now: &self.recorder.now(),
        };
        let entered = self.pending.enter(&self.run, ask, around);
        self.recorder.note(Source::Agent, entered.body);
        if self.is_closing() {
            self.leave_pending();
            return;
        }
        if let Some(reason) = self.gate.closed() {
            self.deny_pending("limit", &reason);
            return;
        }
        if let Some(verdict) = judged.verdict {
            let answer = Answer::new(entered.id, entered.digest, "policy", verdict);
            if let Ok(body) = self.pending.answer(answer) {
                self.recorder.note(Source::Falconer, body);
            }
            return;
        }
        self.watch.asking(true, Instant::now());
        let (id, settled) = (entered.id, entered.settled);
        self.withdrawals.push(Box::pin(async move {
            tokio::select! {
                biased;
                () = settled.cancelled() => None,
                () = withdrawn.cancelled() => Some(id),
            }
        }));
    }

    pub(super) fn withdrawn(&mut self, id: Option<String>) {
        if let Some(body) = id.and_then(|id| self.pending.withdraw(&id)) {
            self.recorder.note(Source::Agent, body);
        }
        self.still_asking();
    }

    pub(super) fn deny_pending(&mut self, by: &str, reason: &str) {
        for body in self.pending.deny_all(by, reason) {
            self.recorder.note(Source::Falconer, body);
        }
        self.still_asking();
    }

    /// Ends what is open without an answer: nobody has decided, so the model hears of nothing.
    pub(super) fn leave_pending(&mut self) {
        let reason = "the session was stopped before anybody answered";
        for body in self.pending.leave_all("falconer", reason) {
            self.recorder.note(Source::Falconer, body);
        }
        self.still_asking();
    }

    pub(super) fn still_asking(&mut self) {
        self.watch.asking(!self.pending.is_empty(), Instant::now());
    }
}
