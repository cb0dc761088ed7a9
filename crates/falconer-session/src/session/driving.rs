//! The loop of a live session: whatever happens next, one thing at a time.

use std::future::poll_fn;
use std::sync::Arc;

use falconer_event::End;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep_until};

use super::live::{Live, Told};
use super::requests::{Opened, Ready};
use crate::engine::{
    Controls, EngineError, EngineStream, Happening, Question, Room, Running, Stopped,
};
use crate::error::Error;
use crate::handle::{Command, Reply};
use crate::info::EngineInfo;
use crate::message::{Cancelled, MessageId};

/// What was decided about the loop.
pub(super) enum Step {
    GoOn,
    End,
}

/// The engine, while there is one.
pub(super) struct Driven {
    pub(super) stream: Box<dyn EngineStream>,
    pub(super) controls: Arc<dyn Controls>,
    info: EngineInfo,
    /// A prompt on its way, by the engine's name for it; they leave one by one.
    sending: Option<(String, Sending)>,
    /// Ends when the engine has nothing left to do.
    idle: Option<BoxFuture<'static, ()>>,
    /// Why it ended by itself.
    pub(super) stopped: Option<Stopped>,
}

type Sending = BoxFuture<'static, Result<(), EngineError>>;

impl Live {
    pub(super) async fn drive(
        &mut self,
        running: Running,
        early: Vec<Command>,
        told: &mut Told,
    ) -> End {
        let mut engine = Driven {
            stream: running.stream,
            controls: running.controls,
            info: running.info,
            sending: None,
            idle: None,
            stopped: None,
        };
        // A last handle that left meanwhile is noticed anew.
        told.has_handles = true;
        for command in early {
            // None of them ends the run.
            self.command(&engine, command);
        }
        while let Step::GoOn = self.step(&mut engine, told).await {}
        self.see_out(engine).await
    }

    /// Waits for the next thing, and does it.
    async fn step(&mut self, engine: &mut Driven, told: &mut Told) -> Step {
        self.send_next(engine);
        self.look_for_idleness(engine);
        let room = if self.recorder.outlet().has_room() {
            Room::Free
        } else {
            Room::Full
        };
        // What comes after a question is read when the question is open.
        let may_read = !self.requests.is_judging();
        let wake = self.next_wake();
        let is_heard = !self.recorder.outlet().is_closed();
        tokio::select! {
            next = poll_fn(|cx| engine.stream.poll_next(cx, room)), if may_read => {
                self.happened(engine, next)
            }
            command = told.commands.recv(), if told.has_handles => match command {
                Some(command) => self.command(engine, command),
                None => {
                    told.has_handles = false;
                    self.handles_gone(engine)
                }
            },
            ready = self.requests.ready() => {
                self.ready(ready);
                Step::GoOn
            }
            sent = on(&mut engine.sending) => {
                self.sent(engine, sent);
                Step::GoOn
            }
            () = on_idle(&mut engine.idle) => {
                engine.idle = None;
                self.idle()
            }
            Some(done) = self.jobs.join_next() => {
                if let Ok(Some(message)) = done {
                    self.prompts.engine_took_back(&message, &mut self.recorder);
                }
                Step::GoOn
            }
            () = self.recorder.outlet().changed(), if room == Room::Full => Step::GoOn,
            () = self.recorder.outlet().closed(), if !told.has_handles && is_heard => {
                self.close(engine)
            }
            () = at(wake) => self.time(engine),
        }
    }

    fn happened(&mut self, engine: &mut Driven, next: Option<Happening>) -> Step {
        // What the engine answers it was given.
        if let Some((_, sending)) = &mut engine.sending
            && let Some(sent) = sending.now_or_never()
        {
            self.sent(engine, sent);
        }
        match next {
            Some(Happening::Said(said)) => return self.said(engine, *said),
            Some(Happening::Asked(question)) => self.asked(question),
            Some(Happening::Checked(check)) => {
                let checking = self.course.check(check);
                self.jobs.spawn(async move {
                    checking.await;
                    None
                });
            }
            Some(Happening::Failed(stopped)) => engine.stopped = Some(stopped),
            None => return Step::End,
        }
        Step::GoOn
    }

    fn asked(&mut self, question: Question) {
        if let Some(judged) = self.requests.judge(question) {
            self.ready(Ready::Judged(Box::new(judged)));
        }
    }

    fn ready(&mut self, ready: Ready) {
        let recorder = &mut self.recorder;
        match ready {
            Ready::Judged(judged) => {
                let (question, judged) = *judged;
                let at = Opened {
                    cwd: self.identity.cwd(),
                    is_closing: self.course.is_closing(),
                };
                self.requests.open(question, judged, at, recorder);
            }
            Ready::Withdrawn(id) => self.requests.withdraw(id, recorder),
            Ready::Edited(edited) => self.requests.edited(*edited, recorder),
        }
    }

    pub(super) fn command(&mut self, engine: &Driven, command: Command) -> Step {
        let controls = &engine.controls;
        match command {
            Command::Send(message, reply) => self.accept(*message, reply),
            Command::Answer(answer, reply) => {
                self.requests.answer(*answer, reply, &mut self.recorder);
            }
            Command::Cancel(id, reply) => self.cancel(engine, id, reply),
            Command::Interrupt(reply) => self.job(reply, controls.interrupt()),
            Command::Model(model, reply) => self.job(reply, controls.set_model(model)),
            Command::Mode(mode, reply) => self.job(reply, controls.set_mode(mode)),
            Command::StopTask(task, reply) => self.job(reply, controls.stop_task(task)),
            Command::Info(reply) => drop(reply.send(Ok(engine.info.clone()))),
            Command::Close => return self.close(engine),
        }
        Step::GoOn
    }

    /// Asks the engine without waiting for it.
    fn job(&mut self, reply: Reply<()>, work: Sending) {
        self.jobs.spawn(async move {
            let _ = reply.send(work.await.map_err(Error::from));
            None
        });
    }

    pub(super) fn accept(&mut self, message: crate::Message, reply: Reply<MessageId>) {
        let winding_down = self.course.winding_down();
        let accepted = self
            .prompts
            .accept(message, winding_down, &mut self.recorder);
        if accepted.is_ok() {
            self.bounds.heard();
        }
        let _ = reply.send(accepted);
    }

    fn cancel(&mut self, engine: &Driven, id: MessageId, reply: Reply<Cancelled>) {
        let wire = match self.prompts.take(&id) {
            Ok(taken) => {
                let taken = taken.or_else(|| self.retrying.cancel(&id));
                let cancelled = self.prompts.taken_back(taken, &mut self.recorder);
                let _ = reply.send(Ok(cancelled));
                return;
            }
            Err(wire) => wire,
        };
        let asked = engine.controls.take_back(wire);
        self.jobs.spawn(async move {
            let answer = asked.await;
            let taken_back = matches!(answer, Ok(true)).then_some(id);
            let answer = answer.map(|was_found| {
                if was_found {
                    Cancelled::Yes
                } else {
                    Cancelled::TooLate
                }
            });
            let _ = reply.send(answer.map_err(Error::from));
            taken_back
        });
    }

    fn send_next(&mut self, engine: &mut Driven) {
        if engine.sending.is_some() {
            return;
        }
        if let Some(prompt) = self.prompts.next() {
            engine.idle = None;
            self.bounds.settled();
            let wire = prompt.id.clone();
            engine.sending = Some((wire, engine.controls.send(prompt)));
        }
    }

    fn sent(&mut self, engine: &mut Driven, sent: Result<(), EngineError>) {
        let Some((wire, _)) = engine.sending.take() else {
            return;
        };
        match sent {
            Ok(()) => self.prompts.sent(&wire, &mut self.recorder),
            // The engine may have left because its conversation is gone; then it is sent again.
            Err(_) if self.renewing.is_possible() && !self.identity.is_known() => {}
            Err(failed) => {
                let why = failed.to_string();
                self.recorder.warn("send_failed", &why);
                self.prompts.lost(&wire, &why, &mut self.recorder);
            }
        }
    }

    /// When everything is answered, the engine is asked to say that it is idle.
    fn look_for_idleness(&mut self, engine: &mut Driven) {
        let is_asking = self.requests.is_open();
        self.bounds.look(self.prompts.is_at_work(), is_asking);
        let is_touched = self.prompts.is_touched();
        if self.course.ends_when_idle() && is_touched && self.is_done() && engine.idle.is_none() {
            self.bounds.settling();
            engine.idle = Some(engine.controls.idle());
        }
    }

    /// Returns `true` if every message is answered and none is to be sent again.
    pub(super) fn is_done(&self) -> bool {
        self.prompts.is_done() && !self.retrying.is_waiting()
    }

    /// When something has to be looked at even if nothing happens.
    fn next_wake(&self) -> Option<Instant> {
        let limits = match self.course.until() {
            Some(until) => Some(until),
            None => self.bounds.next(),
        };
        [limits, self.retrying.when(), self.requests.next_expiry()]
            .into_iter()
            .flatten()
            .min()
    }
}

/// Waits for what is there; for ever if nothing is.
async fn on(slot: &mut Option<(String, Sending)>) -> Result<(), EngineError> {
    match slot {
        Some((_, work)) => work.await,
        None => std::future::pending().await,
    }
}

async fn on_idle(slot: &mut Option<BoxFuture<'static, ()>>) {
    match slot {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

pub(super) async fn at(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => std::future::pending().await,
    }
}
