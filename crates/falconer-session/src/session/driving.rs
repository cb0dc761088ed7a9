//! The loop of a live session: whatever happens next, one thing at a time.

use falconer::{Client, Messages};
use falconer_event::End;
use falconer_protocol::Message;
use futures_util::FutureExt as _;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::live::Live;
use crate::handle::Command;
use crate::pending::Asked;
use crate::spec::Lifetime;

/// How many messages that are there already are read before a request of the engine, which may
/// be about one of them.
const CATCH_UP: usize = 256;

/// What was decided about the loop.
pub(super) enum Step {
    GoOn,
    End,
}

/// The connection, while there is one.
pub(super) struct Engine {
    pub(super) client: Client,
    pub(super) messages: Messages,
    /// A prompt on its way, by the engine's name for it; they leave one by one.
    sending: Option<(String, Sending)>,
    /// Ends when the engine has nothing left to do.
    idle: Option<BoxFuture<'static, ()>>,
    /// Why its messages ended.
    pub(super) error: Option<falconer::Error>,
}

type Sending = BoxFuture<'static, Result<(), falconer::Error>>;

impl Engine {
    pub(super) fn new(client: Client, messages: Messages) -> Self {
        Self {
            client,
            messages,
            sending: None,
            idle: None,
            error: None,
        }
    }
}

impl Live {
    pub(super) async fn drive(
        &mut self,
        mut engine: Engine,
        early: Vec<Command>,
        told: &mut mpsc::Receiver<Command>,
        asked: &mut mpsc::Receiver<Asked>,
    ) -> End {
        for command in early {
            // None of them ends the run.
            self.command(&engine, command);
        }
        let mut has_handles = true;
        while let Step::GoOn = self.step(&mut engine, told, asked, &mut has_handles).await {}
        self.see_out(engine).await
    }

    /// Waits for the next thing, and does it.
    async fn step(
        &mut self,
        engine: &mut Engine,
        told: &mut mpsc::Receiver<Command>,
        asked: &mut mpsc::Receiver<Asked>,
        has_handles: &mut bool,
    ) -> Step {
        self.send_next(engine);
        self.look_for_idleness(engine);
        let has_room = self.recorder.outlet().has_room();
        let wake = self.next_wake();
        let is_heard = !self.recorder.outlet().is_closed();
        tokio::select! {
            message = engine.messages.next(), if has_room => self.next_message(engine, message),
            command = told.recv(), if *has_handles => match command {
                Some(command) => self.command(engine, command),
                None => {
                    *has_handles = false;
                    self.handles_gone(engine)
                }
            },
            Some(ask) = asked.recv() => {
                let step = self.catch_up(engine);
                self.asked(ask);
                step
            }
            Some(withdrawn) = self.withdrawals.next() => {
                self.withdrawn(withdrawn);
                Step::GoOn
            }
            Some(edited) = self.edits.next() => {
                self.edited(edited);
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
                    self.engine_took_back(&message);
                }
                Step::GoOn
            }
            () = self.recorder.outlet().changed(), if !has_room => Step::GoOn,
            () = self.recorder.outlet().closed(), if !*has_handles && is_heard => self.close(engine),
            () = at(wake) => self.time(engine),
        }
    }

    fn next_message(
        &mut self,
        engine: &mut Engine,
        message: Option<Result<Message, falconer::Error>>,
    ) -> Step {
        // What the engine answers it was given.
        if let Some((_, sending)) = &mut engine.sending
            && let Some(sent) = sending.now_or_never()
        {
            self.sent(engine, sent);
        }
        match message {
            Some(Ok(message)) => self.message(engine, &message),
            Some(Err(failed)) => {
                engine.error = Some(failed);
                Step::GoOn
            }
            None => Step::End,
        }
    }

    /// Reads what came before a request, so that a call is told before the question about it.
    fn catch_up(&mut self, engine: &mut Engine) -> Step {
        for _ in 0..CATCH_UP {
            if !self.recorder.outlet().has_room() {
                break;
            }
            let Some(message) = engine.messages.next().now_or_never() else {
                break;
            };
            if let Step::End = self.next_message(engine, message) {
                return Step::End;
            }
        }
        Step::GoOn
    }

    fn send_next(&mut self, engine: &mut Engine) {
        if engine.sending.is_some() {
            return;
        }
        if let Some(message) = self.turns.next() {
            let client = engine.client.clone();
            engine.idle = None;
            self.watch.settling_since = None;
            let sending = async move { client.send(message.prompt).await.map(drop) };
            engine.sending = Some((message.wire, Box::pin(sending)));
        }
    }

    fn sent(&mut self, engine: &mut Engine, sent: Result<(), falconer::Error>) {
        let Some((wire, _)) = engine.sending.take() else {
            return;
        };
        match sent {
            Ok(()) => self.prompt_sent(&wire),
            // The engine may have left because its conversation is gone; then it is sent again.
            Err(_) if self.renewal.is_some() && self.session.is_none() => {}
            Err(failed) => {
                self.warn("send_failed", &failed.to_string());
                self.prompt_lost(&wire, &failed.to_string());
            }
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
}

/// Waits for what is there; for ever if nothing is.
async fn on(slot: &mut Option<(String, Sending)>) -> Result<(), falconer::Error> {
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
