//! Questions of the engine: judged by the policy, opened, answered once.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use falconer_event::{Body, Source};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::Instant;

use super::gate::{Gate, Judged};
use super::recorder::Recorder;
use crate::answer::Answer;
use crate::engine::Question;
use crate::error::{AnswerError, Error};
use crate::handle::Reply;
use crate::pending::{Around, Pending};

/// The questions of a run, from being asked to being settled.
pub(super) struct Requests {
    run: String,
    gate: Arc<Gate>,
    within: Duration,
    pending: Pending,
    /// The question the policy is asked about.
    judging: Option<BoxFuture<'static, (Question, Judged)>>,
    /// Each waits until its request is withdrawn, or settled.
    withdrawals: FuturesUnordered<BoxFuture<'static, Option<String>>>,
    /// Each judges the input of an answer.
    edits: FuturesUnordered<BoxFuture<'static, Edited>>,
}

/// An answer whose input was judged.
type Edited = (Answer, Reply<()>, Result<(), String>);

/// Something that was waited for.
pub(super) enum Ready {
    /// A question can be opened.
    Judged(Box<(Question, Judged)>),
    /// The engine no longer wants to know; none if it was settled before.
    Withdrawn(Option<String>),
    /// The input of an answer was judged.
    Edited(Box<Edited>),
}

/// Where a question is opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opened<'a> {
    /// Where the agent works.
    pub(super) cwd: Option<&'a str>,
    /// Somebody stops the run.
    pub(super) is_closing: bool,
}

impl Requests {
    pub(super) fn new(run: String, gate: Arc<Gate>, within: Duration) -> Self {
        Self {
            run,
            gate,
            within,
            pending: Pending::default(),
            judging: None,
            withdrawals: FuturesUnordered::new(),
            edits: FuturesUnordered::new(),
        }
    }

    /// Returns `true` if somebody is asked.
    pub(super) fn is_open(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Returns `true` while a question is with the policy; what came after it has to wait, so
    /// that it is opened in its place.
    pub(super) fn is_judging(&self) -> bool {
        self.judging.is_some()
    }

    pub(super) fn next_expiry(&self) -> Option<Instant> {
        self.pending.next_expiry()
    }

    /// Asks the policy; returns the question if that takes no time.
    pub(super) fn judge(&mut self, question: Question) -> Option<(Question, Judged)> {
        let gate = self.gate.clone();
        let mut judging: BoxFuture<'static, _> = Box::pin(async move {
            let judged = gate.judge(&question.ask).await;
            (question, judged)
        });
        let judged = (&mut judging).now_or_never();
        if judged.is_none() {
            self.judging = Some(judging);
        }
        judged
    }

    /// Waits for what is under way; for ever if nothing is.
    pub(super) async fn ready(&mut self) -> Ready {
        tokio::select! {
            judged = of(&mut self.judging) => {
                self.judging = None;
                Ready::Judged(Box::new(judged))
            }
            Some(withdrawn) = self.withdrawals.next() => Ready::Withdrawn(withdrawn),
            Some(edited) = self.edits.next() => Ready::Edited(Box::new(edited)),
            else => std::future::pending().await,
        }
    }

    /// Opens a question, or settles it at once: by the policy, or because the run ends.
    pub(super) fn open(
        &mut self,
        question: Question,
        judged: Judged,
        at: Opened<'_>,
        recorder: &mut Recorder,
    ) {
        let withdrawn = question.withdrawn.clone();
        let shell = judged.cwd.as_deref().and_then(Path::to_str);
        let around = Around {
            within: self.within,
            cwd: shell.or(at.cwd),
            now: &recorder.now(),
        };
        let entered = self.pending.enter(&self.run, question, around);
        recorder.note(Source::Agent, entered.body);
        if at.is_closing {
            return self.leave_all(recorder);
        }
        if let Some(reason) = self.gate.closed() {
            return self.deny_all("limit", &reason, recorder);
        }
        if let Some(verdict) = judged.verdict {
            let answer = Answer::new(entered.id, entered.digest, "policy", verdict);
            if let Ok(body) = self.pending.answer(answer) {
                recorder.note(Source::Falconer, body);
            }
            return;
        }
        let (id, settled) = (entered.id, entered.settled);
        self.withdrawals.push(Box::pin(async move {
            tokio::select! {
                biased;
                () = settled.cancelled() => None,
                () = withdrawn.cancelled() => Some(id),
            }
        }));
    }

    /// Takes an answer. Input that comes with it is judged first.
    pub(super) fn answer(&mut self, answer: Answer, reply: Reply<()>, recorder: &mut Recorder) {
        let Some(edit) = self.pending.edit(&answer) else {
            return self.take(answer, reply, recorder);
        };
        let gate = self.gate.clone();
        self.edits.push(Box::pin(async move {
            let checked = gate.check_edit(edit).await;
            (answer, reply, checked)
        }));
    }

    /// Takes an answer whose input was judged.
    pub(super) fn edited(&mut self, (answer, reply, checked): Edited, recorder: &mut Recorder) {
        match checked {
            Ok(()) => self.take(answer, reply, recorder),
            Err(reason) => {
                let refused = AnswerError::Refused {
                    id: answer.id,
                    reason,
                };
                let _ = reply.send(Err(refused.into()));
            }
        }
    }

    fn take(&mut self, answer: Answer, reply: Reply<()>, recorder: &mut Recorder) {
        let answered = self.pending.answer(answer);
        let outcome = answered.map(|body| recorder.note(Source::User, body));
        let _ = reply.send(outcome.map_err(Error::from));
    }

    pub(super) fn withdraw(&mut self, id: Option<String>, recorder: &mut Recorder) {
        if let Some(body) = id.and_then(|id| self.pending.withdraw(&id)) {
            recorder.note(Source::Agent, body);
        }
    }

    /// Denies what was not answered in time.
    pub(super) fn expire(&mut self, now: Instant, recorder: &mut Recorder) {
        note_all(self.pending.expire(now), recorder);
    }

    pub(super) fn deny_all(&mut self, by: &str, reason: &str, recorder: &mut Recorder) {
        note_all(self.pending.deny_all(by, reason), recorder);
    }

    /// Ends what is open without an answer: nobody has decided, so the model hears of nothing.
    pub(super) fn leave_all(&mut self, recorder: &mut Recorder) {
        let reason = "the session was stopped before anybody answered";
        note_all(self.pending.leave_all("falconer", reason), recorder);
    }
}

fn note_all(bodies: Vec<Body>, recorder: &mut Recorder) {
    for body in bodies {
        recorder.note(Source::Falconer, body);
    }
}

/// Waits for what is there; for ever if nothing is.
async fn of<T>(slot: &mut Option<BoxFuture<'static, T>>) -> T {
    match slot {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}
