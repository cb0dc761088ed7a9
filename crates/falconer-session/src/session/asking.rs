//! What the engine asks.

use falconer_event::Source;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::live::Live;
use crate::answer::{Answer, Verdict};
use crate::pending::{Around, Ask, Asked, is_question};
use crate::policy::Effect;

impl Live {
    pub(super) fn asked(&mut self, asked: Asked) {
        match asked {
            Asked::Request { ask, withdrawn } => self.request(ask, withdrawn),
            // Who asked may be gone; then there is nobody to tell.
            Asked::Call(input, reply) => drop(reply.send(self.gate.before_tool(&input))),
        }
    }

    fn request(&mut self, ask: Ask, withdrawn: CancellationToken) {
        let ruled = self.ruled(&ask);
        let around = Around {
            within: self.answer_within,
            cwd: self.cwd.as_deref(),
            now: &self.recorder.now(),
        };
        let entered = self.pending.enter(&self.run, ask, around);
        self.recorder.note(Source::Agent, entered.body);
        if let Some(reason) = self.gate.closed() {
            self.deny_pending("limit", &reason);
            return;
        }
        if let Some(verdict) = ruled {
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

    /// What the policy says, if it says something; questions are never answered by it.
    fn ruled(&self, ask: &Ask) -> Option<Verdict> {
        let Ask::Tool(ask, _) = ask else {
            return None;
        };
        let explained = self.gate.explain(&ask.tool_name, &ask.input)?;
        match explained.effect? {
            Effect::Deny => Some(Verdict::Deny(format!("policy: {}", explained.reason))),
            Effect::Allow if !is_question(&ask.tool_name) => Some(Verdict::Allow),
            Effect::Allow | Effect::Ask => None,
        }
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

    pub(super) fn still_asking(&mut self) {
        self.watch.asking(!self.pending.is_empty(), Instant::now());
    }
}
