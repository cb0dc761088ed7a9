//! The task that owns a live session.

use std::sync::Arc;
use std::time::Duration;

use falconer::{Client, Failure as TurnFailure, FailureClass, Messages, Priority};
use falconer_event::{
    Body, Draft, End, Failure, ItemContent, Limit, Retry, Sequence, Source, Warning,
};
use falconer_protocol::Message;
use falconer_protocol::message::ResultMessage;
use falconer_protocol::system::{Init, SystemMessage};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::Connecting;
use super::gate::Gate;
use super::recorder::{Out, Recorder};
use super::turns::{Message as Sent, Turns};
use crate::answer::{Answer, Verdict as AnswerVerdict};
use crate::error::Error;
use crate::failure::{RunFailure, of_error, stderr_of};
use crate::handle::{Cancelled, Command, Delivery, MessageId, Reply};
use crate::limits::{Attempt, LimitKind, Limits, Meter, Retries, Verdict, Watch};
use crate::limits::{is_side_effect, retry_after};
use crate::lock::{LockError, SessionLock, SessionLocks};
use crate::pending::{Ask, Asked, Pending, is_question};
use crate::policy::Effect;
use crate::spec::{Lifetime, Resume, SessionSpec};
use crate::stream::Outlet;
use crate::transcript::Transcript;

/// Everything a live session knows.
pub(super) struct Live {
    run: String,
    recorder: Recorder,
    pending: Pending,
    answer_within: Duration,
    /// Each waits until its request is withdrawn, or settled.
    withdrawals: FuturesUnordered<BoxFuture<'static, Option<String>>>,
    turns: Turns,
    queue: usize,
    /// Messages to be sent again, and when.
    retry: Option<(Instant, Vec<Sent>)>,
    retries: Retries,
    waited: Duration,
    had_side_effect: bool,
    locks: SessionLocks,
    lock: Option<SessionLock>,
    resume: Option<Resume>,
    /// The engine's id of the session, once it has said it.
    session: Option<String>,
    lifetime: Lifetime,
    limits: Limits,
    meter: Meter,
    watch: Watch,
    gate: Arc<Gate>,
    ending: Option<Ending>,
    /// What the engine was asked on behalf of callers; gives the message it took back, if any.
    jobs: JoinSet<Option<MessageId>>,
    not_found: bool,
}

/// The run is to end.
#[derive(Debug)]
struct Ending {
    failure: Option<Failure>,
    cancelled: bool,
    /// How long the turn under way may still take.
    until: Instant,
}

/// What was decided about the loop.
enum Step {
    GoOn,
    End,
}

/// The connection, while there is one.
struct Engine {
    client: Client,
    messages: Messages,
    /// A prompt on its way; they leave one by one.
    sending: Option<BoxFuture<'static, Result<(), falconer::Error>>>,
    /// Ends when the engine has nothing left to do.
    idle: Option<BoxFuture<'static, ()>>,
}

impl Live {
    pub(super) fn new(
        spec: SessionSpec,
        lock: Option<SessionLock>,
        transcript: Option<Transcript>,
        outlet: Outlet,
        gate: Arc<Gate>,
    ) -> Self {
        let sequence = Sequence::after(spec.name, spec.last_event);
        let run = spec.run.as_str().to_owned();
        let out = Out {
            redactor: spec.redactor,
            transcript,
            outlet,
        };
        Self {
            recorder: Recorder::new(spec.about, spec.run, sequence, spec.clock, out),
            run,
            pending: Pending::default(),
            answer_within: spec.answer_within,
            withdrawals: FuturesUnordered::new(),
            turns: Turns::default(),
            queue: spec.queue,
            retry: None,
            retries: spec.retries,
            waited: Duration::ZERO,
            had_side_effect: false,
            locks: spec.locks,
            lock,
            resume: spec.resume,
            session: None,
            lifetime: spec.lifetime,
            limits: spec.limits,
            meter: Meter::default(),
            watch: Watch::new(Instant::now()),
            gate,
            ending: None,
            jobs: JoinSet::new(),
            not_found: false,
        }
    }

    /// Runs to the end; the last thing that happens is `run.completed`.
    pub(super) async fn run(
        mut self,
        connecting: Connecting,
        mut told: mpsc::Receiver<Command>,
        mut asked: mpsc::Receiver<Asked>,
    ) {
        let end = match self.connect(connecting, &mut told).await {
            Ok((client, messages)) => {
                let engine = Engine {
                    client,
                    messages,
                    sending: None,
                    idle: None,
                };
                self.drive(engine, &mut told, &mut asked).await
            }
            Err(end) => end,
        };
        self.finish(end);
    }

    /// Waits for the engine. Messages may be sent meanwhile.
    async fn connect(
        &mut self,
        mut connecting: Connecting,
        told: &mut mpsc::Receiver<Command>,
    ) -> Result<(Client, Messages), End> {
        loop {
            let deadline = self.watch.next(&Limits {
                deadline: self.limits.deadline,
                ..only_deadline()
            });
            tokio::select! {
                connected = &mut connecting => {
                    return connected.map_err(|error| {
                        let mut end = End::default();
                        end.failure = Some(of_error(&error, RunFailure::EngineNotStarted));
                        end.stderr = stderr_of(&error);
                        end
                    });
                }
                command = told.recv() => match command {
                    Some(Command::Send(prompt, delivery, reply)) => {
                        self.accept(*prompt, delivery, reply);
                    }
                    Some(Command::Cancel(id, reply)) => {
                        let _ = reply.send(Ok(cancelled(self.turns.cancel(&id))));
                    }
                    Some(Command::Close) => return Err(cancelled_end()),
                    None if !self.outlives_handles() => return Err(cancelled_end()),
                    None => {}
                    // There is nobody yet who could do it.
                    Some(other) => refuse(other),
                },
                () = at(deadline) => {
                    let mut end = End::default();
                    end.failure = Some(self.reached(LimitKind::Deadline));
                    return Err(end);
                }
            }
            if told.is_closed() && told.is_empty() {
                // Nothing more will be told; a closed channel would spin.
                return match (&mut connecting).await {
                    Ok(connected) => Ok(connected),
                    Err(error) => {
                        let mut end = End::default();
                        end.failure = Some(of_error(&error, RunFailure::EngineNotStarted));
                        end.stderr = stderr_of(&error);
                        Err(end)
                    }
                };
            }
        }
    }

    fn outlives_handles(&self) -> bool {
        self.lifetime == Lifetime::UntilIdle && self.turns.is_touched()
    }

    async fn drive(
        &mut self,
        mut engine: Engine,
        told: &mut mpsc::Receiver<Command>,
        asked: &mut mpsc::Receiver<Asked>,
    ) -> End {
        let mut has_handles = true;
        let mut error = None;
        loop {
            self.send_next(&mut engine);
            self.look_for_idleness(&mut engine);
            let has_room = self.recorder.outlet().has_room();
            let wake = self.next_wake();
            let step = tokio::select! {
                message = engine.messages.next(), if has_room => match message {
                    Some(Ok(message)) => self.message(&engine, &message),
                    Some(Err(failed)) => {
                        error = Some(failed);
                        Step::GoOn
                    }
                    None => Step::End,
                },
                command = told.recv(), if has_handles => match command {
                    Some(command) => self.command(&engine, command),
                    None => {
                        has_handles = false;
                        self.handles_gone()
                    }
                },
                Some(ask) = asked.recv() => {
                    self.asked(ask);
                    Step::GoOn
                }
                Some(withdrawn) = self.withdrawals.next() => {
                    self.withdrawn(withdrawn);
                    Step::GoOn
                }
                sent = on(&mut engine.sending) => {
                    engine.sending = None;
                    if let Err(failed) = sent {
                        self.warn("send_failed", &failed.to_string());
                    }
                    Step::GoOn
                }
                () = on(&mut engine.idle) => {
                    engine.idle = None;
                    self.idle()
                }
                Some(done) = self.jobs.join_next() => {
                    if let Ok(Some(message)) = done {
                        self.turns.cancelled(&message);
                    }
                    Step::GoOn
                }
                () = self.recorder.outlet().changed(), if !has_room => Step::GoOn,
                () = self.recorder.outlet().closed(), if !has_handles && !self.recorder.outlet().is_closed() => {
                    self.nobody_cares()
                }
                () = at(wake) => self.time(&engine),
            };
            if matches!(step, Step::End) {
                break;
            }
        }
        self.see_out(engine, error).await
    }

    /// Ends the engine, reads what it still said, and says how the run ended.
    async fn see_out(&mut self, engine: Engine, mut error: Option<falconer::Error>) -> End {
        let Engine {
            client,
            mut messages,
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
        let stderr = closed.map(|closed| closed.stderr).unwrap_or_default();
        let mut end = End::default();
        end.stderr = stderr;
        match self.ending.take() {
            Some(ending) => {
                end.failure = ending.failure;
                end.cancelled = ending.cancelled;
            }
            None => {
                end.failure = error
                    .as_ref()
                    .map(|error| of_error(error, RunFailure::EngineEnded));
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
        if self.session.is_none() && !matches!(message, Message::Result(_)) {
            // Without its lock a run must not be announced.
            return;
        }
        self.meter.observe(message);
        if let Message::Result(result) = message {
            self.note_missing(result);
        }
        let drafts = self.recorder.drafts(message);
        self.recorder.record_message(drafts, message);
    }

    fn finish(mut self, end: End) {
        self.deny_pending("falconer", "the run ended, so this was denied");
        // Given back first: who hears of the end may want to go on at once.
        drop(self.lock.take());
        self.recorder.end(end);
    }
}

/// Messages of the engine.
impl Live {
    fn message(&mut self, engine: &Engine, message: &Message) -> Step {
        self.watch.heard(Instant::now());
        if let Message::System(SystemMessage::Init(init)) = message
            && let Err(failure) = self.identify(init)
        {
            return self.end(Some(failure));
        }
        self.meter.observe(message);
        let drafts = self.recorder.drafts(message);
        self.look_at(&drafts);
        self.recorder.record_message(drafts, message);
        if let Message::Result(result) = message {
            self.result(result);
        }
        match self.meter.reached(&self.limits) {
            Some(kind) if self.ending.is_none() => self.trip(engine, kind),
            _ => self.ending_step(message),
        }
    }

    /// A run that winds down ends with its turn.
    fn ending_step(&self, message: &Message) -> Step {
        match (&self.ending, message) {
            (Some(_), Message::Result(_)) => Step::End,
            _ => Step::GoOn,
        }
    }

    /// The engine names its session: is it the right one, and is it ours?
    fn identify(&mut self, init: &Init) -> Result<(), Failure> {
        let Some(named) = init.session_id.as_ref().map(|id| id.as_str().to_owned()) else {
            return Ok(());
        };
        if self.session.as_ref() == Some(&named) {
            return Ok(());
        }
        let expected = self.resume.as_ref().filter(|resume| !resume.fork);
        if self.session.is_none()
            && let Some(expected) = expected
            && expected.session != named
        {
            return Err(RunFailure::SessionMismatch.with(format!(
                "session {} was to be resumed, but the engine answers for {named}",
                expected.session
            )));
        }
        self.take_over(&named)?;
        self.session = Some(named);
        Ok(())
    }

    /// Locks the session, unless it is locked already; the lock of another one is given back.
    fn take_over(&mut self, named: &str) -> Result<(), Failure> {
        if self
            .lock
            .as_ref()
            .is_some_and(|lock| lock.session() == named)
        {
            return Ok(());
        }
        let lock = self.locks.try_lock(named).map_err(|error| {
            let kind = match &error {
                LockError::Held { .. } => RunFailure::SessionBusy,
                LockError::Io { .. } => RunFailure::LockFailed,
            };
            kind.with(error.to_string())
        })?;
        self.lock = Some(lock);
        Ok(())
    }

    fn look_at(&mut self, drafts: &[Draft]) {
        for draft in drafts {
            self.watch.observe(&draft.body);
            if let Body::ItemStarted(item) | Body::ItemCompleted(item) = &draft.body
                && let ItemContent::Action(action) = &item.content
            {
                self.had_side_effect |= is_side_effect(action);
            }
        }
    }

    fn note_missing(&mut self, result: &ResultMessage) {
        let failure = TurnFailure::of(result);
        self.not_found |= self.session.is_none()
            && failure.is_some_and(|failure| failure.class == FailureClass::SessionNotFound);
    }

    fn result(&mut self, result: &ResultMessage) {
        self.note_missing(result);
        let answered = self.turns.answered(result);
        let failure = TurnFailure::of(result);
        if let Some(failure) = failure.filter(TurnFailure::is_retryable)
            && self.ending.is_none()
        {
            self.try_again(&failure, answered);
        }
        self.had_side_effect = false;
    }

    fn try_again(&mut self, failure: &TurnFailure, messages: Vec<Sent>) {
        let Some(made) = messages.iter().map(|message| message.attempts).max() else {
            return;
        };
        let now = Instant::now();
        let attempt = Attempt {
            made,
            waited: self.waited,
            left: self.watch.left(&self.limits, now),
            retry_after: retry_after(&failure.result),
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
}

/// What the session is told.
impl Live {
    fn command(&mut self, engine: &Engine, command: Command) -> Step {
        match command {
            Command::Send(prompt, delivery, reply) => self.accept(*prompt, delivery, reply),
            Command::Answer(answer, reply) => self.answer(*answer, reply),
            Command::Cancel(id, reply) => self.cancel(engine, id, reply),
            Command::Interrupt(reply) => {
                let client = engine.client.clone();
                self.job(reply, async move { client.interrupt().await.map(drop) });
            }
            Command::Model(model, reply) => {
                let client = engine.client.clone();
                self.job(
                    reply,
                    async move { client.set_model(model).await.map(drop) },
                );
            }
            Command::Mode(mode, reply) => {
                let client = engine.client.clone();
                self.job(reply, async move { client.set_permission_mode(mode).await });
            }
            Command::Close => return self.close(),
        }
        Step::GoOn
    }

    /// Asks the engine without waiting for it.
    fn job<T: Send + 'static>(
        &mut self,
        reply: Reply<T>,
        work: impl Future<Output = Result<T, falconer::Error>> + Send + 'static,
    ) {
        self.jobs.spawn(async move {
            let _ = reply.send(work.await.map_err(Error::from));
            None
        });
    }

    fn accept(&mut self, prompt: falconer::Prompt, delivery: Delivery, reply: Reply<MessageId>) {
        if let Some(ending) = &self.ending {
            let why = ending.failure.as_ref().map(|failure| failure.text.clone());
            let _ = reply.send(Err(Error::WindingDown(why.unwrap_or_default())));
            return;
        }
        if self.turns.waiting() >= self.queue {
            let _ = reply.send(Err(Error::QueueFull(self.queue)));
            return;
        }
        let uuid = uuid::Uuid::new_v4();
        let id = MessageId(uuid.to_string());
        let prompt = prompt.id(uuid);
        let message = |prompt| Sent {
            wire: id.0.clone(),
            id: id.clone(),
            prompt,
            attempts: 0,
        };
        match delivery {
            Delivery::Queue => self.turns.queue(message(prompt)),
            Delivery::Push => self.turns.push(message(prompt.priority(Priority::Next))),
            Delivery::Interrupt => self.turns.push(message(prompt.priority(Priority::Now))),
        }
        self.watch.heard(Instant::now());
        let _ = reply.send(Ok(id));
    }

    fn cancel(&mut self, engine: &Engine, id: MessageId, reply: Reply<Cancelled>) {
        if self.turns.cancel(&id) || self.cancel_retry(&id) {
            let _ = reply.send(Ok(Cancelled::Yes));
        } else if let Some(wire) = self.turns.in_flight(&id) {
            let request = falconer_protocol::control::CancelAsyncMessage {
                message_uuid: wire.into(),
                ..Default::default()
            };
            let client = engine.client.clone();
            self.jobs.spawn(async move {
                let answer = client.request(request.into()).await;
                let was_found = |answer: &serde_json::Value| answer["cancelled"] == true;
                let taken_back = answer.as_ref().is_ok_and(was_found).then_some(id);
                let answer = answer.map(|answer| cancelled(was_found(&answer)));
                let _ = reply.send(answer.map_err(Error::from));
                taken_back
            });
        } else {
            let _ = reply.send(Ok(Cancelled::TooLate));
        }
    }

    fn cancel_retry(&mut self, id: &MessageId) -> bool {
        let Some((_, messages)) = &mut self.retry else {
            return false;
        };
        let before = messages.len();
        messages.retain(|message| message.id != *id);
        messages.len() < before
    }

    fn answer(&mut self, answer: Answer, reply: Reply<()>) {
        let answered = self.pending.answer(answer);
        let outcome = answered.map(|body| self.recorder.note(Source::User, body));
        self.still_asking();
        let _ = reply.send(outcome.map_err(Error::from));
    }

    fn close(&mut self) -> Step {
        self.ending.get_or_insert_with(|| Ending {
            failure: None,
            cancelled: false,
            until: Instant::now(),
        });
        if let Some(ending) = &mut self.ending
            && !self.turns.is_done()
        {
            // Somebody stopped it before it was done.
            ending.cancelled = ending.failure.is_none();
        }
        Step::End
    }

    fn handles_gone(&mut self) -> Step {
        match self.outlives_handles() && !self.recorder.outlet().is_closed() {
            true => Step::GoOn,
            false => self.close(),
        }
    }

    /// Nobody hears what happens, and nobody can say anything.
    fn nobody_cares(&mut self) -> Step {
        self.close()
    }
}

/// What the engine asks.
impl Live {
    fn asked(&mut self, asked: Asked) {
        let Asked { ask, withdrawn } = asked;
        let ruled = self.ruled(&ask);
        let entered = self.pending.enter(&self.run, ask, self.answer_within);
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
    fn ruled(&self, ask: &Ask) -> Option<AnswerVerdict> {
        let Ask::Tool(ask, _) = ask else {
            return None;
        };
        let explained = self.gate.explain(&ask.tool_name, &ask.input)?;
        match explained.effect? {
            Effect::Deny => Some(AnswerVerdict::Deny(format!("policy: {}", explained.reason))),
            Effect::Allow if !is_question(&ask.tool_name) => Some(AnswerVerdict::Allow),
            Effect::Allow | Effect::Ask => None,
        }
    }

    fn withdrawn(&mut self, id: Option<String>) {
        if let Some(body) = id.and_then(|id| self.pending.withdraw(&id)) {
            self.recorder.note(Source::Agent, body);
        }
        self.still_asking();
    }

    fn deny_pending(&mut self, by: &str, reason: &str) {
        for body in self.pending.deny_all(by, reason) {
            self.recorder.note(Source::Falconer, body);
        }
        self.still_asking();
    }

    fn still_asking(&mut self) {
        self.watch.asking(!self.pending.is_empty(), Instant::now());
    }
}

/// Time, limits and the end.
impl Live {
    fn next_wake(&self) -> Option<Instant> {
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

    fn time(&mut self, engine: &Engine) -> Step {
        let now = Instant::now();
        for body in self.pending.expire(now) {
            self.recorder.note(Source::Falconer, body);
        }
        self.still_asking();
        if let Some((_, messages)) = self.retry.take_if(|(when, _)| *when <= now) {
            for message in messages {
                // The engine knows the old id already and would take this for a repetition.
                let uuid = uuid::Uuid::new_v4();
                let prompt = message.prompt.clone().id(uuid);
                self.turns.push(Sent {
                    wire: uuid.to_string(),
                    prompt,
                    ..message
                });
            }
        }
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
    fn trip(&mut self, engine: &Engine, kind: LimitKind) -> Step {
        let failure = self.reached(kind);
        let reason = format!("a limit of this run was reached: {}", failure.text);
        self.gate.close(reason.clone());
        self.deny_pending("limit", &reason);
        self.turns.clear();
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

    fn reached(&mut self, kind: LimitKind) -> Failure {
        let failure = Failure::new(kind.class(), kind.text(&self.limits));
        let mut limit = Limit::default();
        limit.kind = kind.class().to_owned();
        limit.reached = true;
        limit.text.clone_from(&failure.text);
        self.recorder.note(Source::Falconer, Body::Limit(limit));
        failure
    }

    fn end(&mut self, failure: Option<Failure>) -> Step {
        self.ending = Some(Ending {
            failure,
            cancelled: false,
            until: Instant::now(),
        });
        Step::End
    }

    fn idle(&mut self) -> Step {
        self.watch.settling_since = None;
        match self.lifetime == Lifetime::UntilIdle && self.turns.is_done() && self.retry.is_none() {
            true => self.end(None),
            false => Step::GoOn,
        }
    }

    fn send_next(&mut self, engine: &mut Engine) {
        if engine.sending.is_some() {
            return;
        }
        if let Some(message) = self.turns.next() {
            let client = engine.client.clone();
            engine.idle = None;
            self.watch.settling_since = None;
            engine.sending = Some(Box::pin(async move {
                client.send(message.prompt).await.map(drop)
            }));
        }
    }

    /// When everything is answered, the engine is asked to say that it is idle.
    fn look_for_idleness(&mut self, engine: &mut Engine) {
        self.watch.at_work = self.turns.is_at_work();
        let is_done = self.turns.is_touched() && self.turns.is_done() && self.retry.is_none();
        if self.lifetime == Lifetime::UntilIdle && is_done && engine.idle.is_none() {
            self.watch.settling_since = Some(Instant::now());
            let client = engine.client.clone();
            engine.idle = Some(Box::pin(async move { client.idle().await }));
        }
    }

    fn warn(&mut self, kind: &str, text: &str) {
        let mut warning = Warning::default();
        warning.kind = kind.to_owned();
        warning.text = text.to_owned();
        self.recorder.note(Source::Falconer, Body::Warning(warning));
    }
}

/// Waits for what is there; for ever if nothing is.
async fn on<T>(slot: &mut Option<BoxFuture<'static, T>>) -> T {
    match slot {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

async fn at(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => std::future::pending().await,
    }
}

fn only_deadline() -> Limits {
    Limits {
        grace: None,
        ..Limits::default()
    }
}

fn cancelled(was_found: bool) -> Cancelled {
    match was_found {
        true => Cancelled::Yes,
        false => Cancelled::TooLate,
    }
}

fn cancelled_end() -> End {
    let mut end = End::default();
    end.cancelled = true;
    end
}

/// The engine is not there yet.
fn refuse(command: Command) {
    let over = || {
        Err(Error::WindingDown(
            "the engine is still starting".to_owned(),
        ))
    };
    match command {
        Command::Interrupt(reply) | Command::Model(_, reply) | Command::Mode(_, reply) => {
            drop(reply.send(over()));
        }
        Command::Answer(answer, reply) => {
            let _ = reply.send(Err(crate::AnswerError::NotOpen(answer.id).into()));
        }
        Command::Send(..) | Command::Cancel(..) | Command::Close => {}
    }
}

/// Between 0 and 1, differently each time.
fn chance() -> f64 {
    let (high, _) = uuid::Uuid::new_v4().as_u64_pair();
    (high >> 32) as f64 / f64::from(u32::MAX)
}
