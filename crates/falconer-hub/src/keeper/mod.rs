//! One task keeps one session: it starts and ends its engine, writes down what happens before
//! anybody hears of it, and brings messages and answers to the agent.

mod adopt;
mod answers;
mod images;
mod inputs;
mod record;
mod start;

pub(crate) use record::written;

use std::sync::Arc;
use std::time::Duration;

use falconer_event::Event;
use falconer_session::{EventStream, Outlet, SessionHandle};
use falconer_store::{Fence, LivePatch, SessionId, SessionPatch, SessionRecord, SessionState};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::error::Error;
use crate::hub::Shared;
use crate::order::{Order, Reply};
use crate::tracker::Tracker;

use images::ImageAllowance;

/// How long a keeper without a run waits for another order.
const LINGER: Duration = Duration::from_secs(2);

/// Keeps one session.
pub(crate) struct Keeper {
    shared: Arc<Shared>,
    session: SessionId,
    orders: mpsc::Receiver<Order>,
    run: Option<LiveRun>,
    /// Questions to the engine that nobody here waits for.
    jobs: JoinSet<()>,
}

/// An engine that runs.
struct LiveRun {
    handle: SessionHandle,
    events: EventStream,
    fence: Fence,
    /// The engine as it was asked for.
    engine: String,
    tracker: Tracker,
    /// The mode the session is to run in, until the engine has said which one it has.
    mode: Option<String>,
    /// Since when there is nothing to do.
    resting: Option<Instant>,
    ending: Ending,
    images: ImageAllowance,
    /// Who started it hears of everything that is kept.
    starter: Option<Starter>,
}

/// Whoever started the session himself.
struct Starter {
    told: Outlet,
    /// Whether the session still needs a name.
    is_unnamed: bool,
}

/// What becomes of the session when its run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Ending {
    /// It waits for the next message.
    #[default]
    Idle,
    /// It takes no messages.
    Closed,
    /// The hub goes away; what was queued stays queued.
    ShutDown,
}

enum Next {
    Order(Order),
    Event(Box<Event>),
    /// The engine is gone.
    RunOver,
    /// The engine has had nothing to do for long enough.
    Rested,
    /// There is no run and there are no orders.
    Alone,
    /// There will be no orders any more.
    Abandoned,
}

impl Keeper {
    pub(crate) fn new(
        shared: Arc<Shared>,
        session: SessionId,
        orders: mpsc::Receiver<Order>,
    ) -> Self {
        Self {
            shared,
            session,
            orders,
            run: None,
            jobs: JoinSet::new(),
        }
    }

    pub(crate) async fn keep(mut self) {
        loop {
            match self.next().await {
                Next::Order(Order::ShutDown(done)) => {
                    self.end_run(Ending::ShutDown).await;
                    drop(done);
                    break;
                }
                Next::Order(order) => self.obey(order).await,
                Next::Event(event) => self.record(*event).await,
                Next::RunOver => self.run_is_over().await,
                Next::Rested => self.end_run(Ending::Idle).await,
                Next::Alone => {
                    if self.shared.retire(&self.session, &self.orders) {
                        break;
                    }
                }
                Next::Abandoned => {
                    self.end_run(Ending::ShutDown).await;
                    break;
                }
            }
        }
    }

    async fn next(&mut self) -> Next {
        let Some(run) = &mut self.run else {
            return match tokio::time::timeout(LINGER, self.orders.recv()).await {
                Ok(Some(order)) => Next::Order(order),
                Ok(None) => Next::Abandoned,
                Err(_) => Next::Alone,
            };
        };
        let rested = run.rested_at(self.shared.config.park_after);
        loop {
            tokio::select! {
                event = run.events.next(), if has_room(run.starter.as_ref()) => {
                    return event.map_or(Next::RunOver, |event| Next::Event(Box::new(event)));
                }
                order = self.orders.recv() => {
                    return order.map_or(Next::Abandoned, Next::Order);
                }
                () = at(rested) => return Next::Rested,
                () = room(run.starter.as_ref()) => {}
                Some(_) = self.jobs.join_next() => {}
            }
        }
    }

    async fn obey(&mut self, order: Order) {
        match order {
            Order::Send(message, reply) => answer(reply, self.send(*message).await),
            Order::Adopt(adoption, reply) => {
                answer(reply, Box::pin(self.adopt(*adoption)).await);
            }
            Order::Answer(said, reply) => answer(reply, self.answer_adopted(*said).await),
            Order::TakeBack(message, reply) => answer(reply, self.take_back(&message).await),
            Order::Deliver(request, reply) => answer(reply, self.deliver(&request).await),
            Order::Resume(reply) => answer(reply, self.resume().await),
            Order::Close(reply) => answer(reply, self.close().await),
            Order::Delete(reply) => answer(reply, self.delete().await),
            Order::Look => self.look().await,
            Order::CheckLease => self.check_lease().await,
            Order::Change(patch, reply) => self.change(*patch, reply).await,
            Order::Interrupt(reply) => {
                let interrupt = |handle: SessionHandle| async move { handle.interrupt().await };
                self.job(reply, interrupt).await;
            }
            Order::StopTask(task, reply) => {
                let stop = |handle: SessionHandle| async move { handle.stop_task(task).await };
                self.job(reply, stop).await;
            }
            Order::Info(reply) => {
                let info = |handle: SessionHandle| async move { handle.info().await };
                self.job(reply, info).await;
            }
            Order::ShutDown(done) => drop(done),
        }
    }

    /// Asks the engine without waiting for it.
    async fn job<T, E, Asked>(&mut self, reply: Reply<T>, ask: impl FnOnce(SessionHandle) -> Asked)
    where
        T: Send + 'static,
        E: Into<Error>,
        Asked: Future<Output = Result<T, E>> + Send + 'static,
    {
        let Some(run) = &self.run else {
            answer(reply, Err(self.not_running().await));
            return;
        };
        let asked = ask(run.handle.clone());
        self.jobs
            .spawn(async move { answer(reply, asked.await.map_err(Into::into)) });
    }

    /// Why there is no run here: there is one elsewhere, or there is none.
    async fn not_running(&self) -> Error {
        match self.shared.not_elsewhere(&self.session).await {
            Ok(()) => Error::NotRunning(self.session.clone()),
            Err(error) => error,
        }
    }

    /// Changes mode or model: the engine is told first, if one runs, and the record says only
    /// what holds. A session that another hub has is not changed from here.
    async fn change(&mut self, patch: SessionPatch, reply: Reply<SessionRecord>) {
        let patch = patch.unless_elsewhere(self.shared.node.id.clone());
        let (store, session) = (self.shared.store.clone(), self.session.clone());
        if self.run.is_none() {
            let changed = match self.shared.not_elsewhere(&session).await {
                Ok(()) => store
                    .update_session(&session, patch)
                    .await
                    .map_err(Error::from),
                Err(error) => Err(error),
            };
            return answer(reply, changed);
        }
        let tell = |handle: SessionHandle| async move {
            if let Some(mode) = &patch.mode {
                handle.set_mode(mode.as_str().into()).await?;
            }
            if let Some(Some(model)) = &patch.model {
                handle.set_model(model.clone()).await?;
            }
            Ok::<_, Error>(store.update_session(&session, patch).await?)
        };
        self.job(reply, tell).await;
    }

    /// Ends the engine and writes down everything it still says.
    async fn end_run(&mut self, ending: Ending) {
        let Some(run) = &mut self.run else {
            return;
        };
        run.ending = ending;
        let handle = run.handle.clone();
        // Its last events have to be taken while it ends.
        let closing = tokio::spawn(async move { handle.close().await });
        while let Some(run) = &mut self.run {
            match run.events.next().await {
                Some(event) => self.record(event).await,
                None => self.run_is_over().await,
            }
        }
        if let Err(error) = closing.await {
            tracing::warn!(%error, "failed to wait for the end of a session");
        }
    }

    /// The engine is gone and everything is written down: lets the session go.
    async fn run_is_over(&mut self) {
        let Some(run) = self.run.take() else {
            return;
        };
        self.jobs.abort_all();
        self.shared.listeners.over(&self.session);
        run.handle.ended().await;
        if run.ending == Ending::Closed {
            let closed = LivePatch::default().state(SessionState::Closed);
            self.attempt("mark a session as closed", async {
                self.shared
                    .store
                    .update_live(&self.session, run.fence, closed)
                    .await
                    .map(drop)
            })
            .await;
        }
        self.attempt("let a session go", async {
            self.shared.store.release(&self.session, run.fence).await
        })
        .await;
    }

    /// Something that must not hold up the keeper when it fails.
    async fn attempt(&self, what: &str, work: impl Future<Output = falconer_store::Result<()>>) {
        if let Err(error) = work.await {
            tracing::warn!(session = %self.session, %error, "failed to {what}");
        }
    }

    /// If another claim holds, what this one runs has to end, unseen by the log.
    async fn check_lease(&mut self) {
        let Some(run) = &self.run else {
            return;
        };
        let is_lost = match self.shared.store.session(&self.session).await {
            Ok(record) => record.fence != run.fence || record.owner.is_none(),
            Err(falconer_store::Error::NotFound { .. }) => true,
            // Nothing is known; every write is checked by the store anyway.
            Err(_) => false,
        };
        if is_lost {
            tracing::warn!(session = %self.session, "somebody else runs the session now");
            self.tell_starter_of_loss();
            self.abandon_run().await;
        }
    }

    /// Ends the engine without writing anything down any more.
    async fn abandon_run(&mut self) {
        if let Some(run) = self.run.take() {
            self.jobs.abort_all();
            self.shared.listeners.over(&self.session);
            let LiveRun { handle, events, .. } = run;
            drop(events);
            handle.close().await;
        }
    }
}

impl LiveRun {
    fn rested_at(&self, park_after: Option<Duration>) -> Option<Instant> {
        match self.starter {
            Some(_) => None,
            None => self.resting?.checked_add(park_after?),
        }
    }
}

pub(crate) fn answer<T>(reply: Reply<T>, result: Result<T, Error>) {
    // Who asked may be gone; what was done is done.
    let _ = reply.send(result);
}

/// Whether whoever started the session can be told more.
fn has_room(starter: Option<&Starter>) -> bool {
    starter.is_none_or(|starter| starter.told.has_room())
}

/// Waits for room, if there is none.
async fn room(starter: Option<&Starter>) {
    match starter.filter(|starter| !starter.told.has_room()) {
        Some(starter) => starter.told.changed().await,
        None => std::future::pending().await,
    }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
