//! Events on their way to the store, and only then to anybody else.

use std::time::Duration;

use falconer_event::{Body, Event, Failure, ItemId, Outcome, Warning};
use falconer_store::{
    Append, Error as StoreError, InputState, LastTurn, MAX_EVENT_BYTES, NewEvent, RequestId,
    SessionState, TurnOutcome,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::{Ending, Keeper};

/// Why a turn ended that a server did not let end.
const SERVER_STOPPED: &str = "server_stopped";
/// Events that are stored together.
const BATCH: usize = 256;
/// How long a store that cannot write now is tried again before the run is ended.
const PATIENCE: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Events that belong together, as they are stored.
struct Batch {
    append: Append,
    asked: Vec<RequestId>,
    started_in: Option<String>,
    /// Items whose whole text is among the events.
    completed: Vec<ItemId>,
    /// For whoever started the session, once it is kept.
    told: Vec<Event>,
    /// The engine that has started.
    started: Option<String>,
}

impl Keeper {
    /// Records an event and those that are there already.
    pub(super) async fn record(&mut self, first: Event) {
        let Some(run) = &mut self.run else {
            return;
        };
        let mut events = vec![first];
        while events.len() < BATCH
            && let Some(Some(event)) = run.events.next().now_or_never()
        {
            events.push(event);
        }
        let mut batch: Option<Batch> = None;
        for mut event in events {
            if event.body.is_ephemeral() {
                // What it comes after has to be there first.
                if let Some(batch) = batch.take() {
                    self.store(batch).await;
                }
                self.tell(event);
            } else {
                self.keep_images(&mut event).await;
                self.add(&mut batch, event);
            }
        }
        if let Some(batch) = batch {
            self.store(batch).await;
        }
    }

    fn tell(&self, event: Event) {
        self.shared.listeners.tell(&self.session, &event);
        self.tell_starter([event]);
    }

    fn add(&mut self, batch: &mut Option<Batch>, event: Event) {
        let Some(run) = &mut self.run else {
            return;
        };
        let batch = batch.get_or_insert_with(|| Batch {
            append: Append::new(self.session.clone(), run.fence, event.seq, Vec::new()),
            asked: Vec::new(),
            started_in: None,
            completed: Vec::new(),
            told: Vec::new(),
            started: None,
        });
        run.tracker.note(&event, &mut batch.append);
        if run.starter.is_some() {
            // His messages come by the handle; they have no rows.
            batch.append.inputs.clear();
        }
        if run.ending == Ending::ShutDown {
            // Messages that waited do so until the next start.
            let tracker = &run.tracker;
            (batch.append.inputs)
                .retain(|(id, state)| *state != InputState::Cancelled || !tracker.is_waiting(id));
            if matches!(&event.body, Body::RunCompleted(run) if run.outcome == Outcome::Cancelled) {
                let live = &mut batch.append.live;
                live.state = Some(SessionState::Interrupted);
                live.last_turn = Some(LastTurn::without_answer(
                    event.seq,
                    TurnOutcome::Interrupted,
                    Failure::new(SERVER_STOPPED, "the server was stopped during the turn")
                        .hint("send a message to continue"),
                ));
            }
        }
        match &event.body {
            Body::PermissionRequested(asked) => batch.asked.push((&*asked.id).into()),
            Body::ItemCompleted(item) => batch.completed.push(item.id.clone()),
            Body::RunStarted(started) => {
                batch.started_in.clone_from(&started.permission_mode);
                batch.started = Some(started.engine.clone());
            }
            _ => {}
        }
        batch.append.events.push(stored(&event));
        run.resting = run.tracker.is_at_rest().then(Instant::now);
        if run.starter.is_some() {
            batch.told.push(event);
        }
    }

    /// Stores a batch; then others may know. Without a store the run has to end: nobody could
    /// see what it does.
    async fn store(&mut self, batch: Batch) {
        if self.run.is_none() {
            return;
        }
        let (store, append) = (self.shared.store.clone(), batch.append);
        match self.patiently(|| store.append(append.clone())).await {
            Ok(_) => {
                (self.shared.listeners).completed(&self.session, &batch.completed);
                self.name_by_first(&batch.told).await;
                self.tell_starter(batch.told);
                self.check_mode(batch.started_in).await;
                self.learn_models(batch.started);
                for request in batch.asked {
                    self.consult_rules(&request).await;
                }
            }
            Err(error) => {
                tracing::error!(session = %self.session, %error, "failed to keep events; the run is ended");
                self.warn_starter(&batch.told, &error);
                let fence = self.run.as_ref().map(|run| run.fence);
                self.abandon_run().await;
                if let Some(fence) = fence {
                    // The next start closes what is open in the log.
                    self.attempt("let a session go", async {
                        self.shared.store.release(&self.session, fence).await
                    })
                    .await;
                }
            }
        }
    }

    /// Asks the store again while it cannot write now.
    pub(super) async fn patiently<'a, T>(
        &self,
        ask: impl Fn() -> BoxFuture<'a, Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let give_up = Instant::now() + PATIENCE;
        let mut pause = FIRST_PAUSE;
        loop {
            match ask().await {
                Err(error) if error.is_retryable() && Instant::now() + pause < give_up => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                answer => return answer,
            }
        }
    }

    /// Remembers the models of an engine that has started.
    fn learn_models(&mut self, started: Option<String>) {
        let (Some(run), Some(started)) = (&self.run, started) else {
            return;
        };
        let engines = [run.engine.clone(), started];
        let (handle, shared) = (run.handle.clone(), self.shared.clone());
        self.jobs.spawn(async move {
            if let Ok(info) = handle.info().await {
                shared.models.said(engines, &info.models);
            }
        });
    }

    /// The mode is part of the session: an engine that starts in another one is told.
    async fn check_mode(&mut self, started_in: Option<String>) {
        let Some(run) = &mut self.run else {
            return;
        };
        let Some(started_in) = started_in else {
            return;
        };
        let Some(wanted) = run.mode.take().filter(|wanted| *wanted != started_in) else {
            return;
        };
        tracing::warn!(session = %self.session, %started_in, %wanted, "the engine started in another mode");
        let handle = run.handle.clone();
        self.jobs.spawn(async move {
            if handle.set_mode(wanted.as_str().into()).await.is_err() {
                // It must not go on with more rights than it was given.
                handle.close().await;
            }
        });
    }
}

/// The event as it is kept; one that is too large leaves a note in its place.
fn stored(event: &Event) -> NewEvent {
    let (kind, json) = written(event);
    if json.len() <= MAX_EVENT_BYTES {
        return NewEvent::new(kind, json);
    }
    let size = json.len();
    let text = format!("a `{kind}` of {size} bytes was too large to be kept");
    let (kind, json) = written(&warning(event, "event_too_large", text));
    NewEvent::new(kind, json)
}

/// A warning in the place of an event.
pub(super) fn warning(event: &Event, kind: &str, text: String) -> Event {
    let mut warning = Warning::default();
    warning.kind = kind.to_owned();
    warning.text = text;
    let mut note = event.clone();
    note.body = Body::Warning(warning);
    note.raw = None;
    note
}

/// The type of an event and its JSON.
pub(crate) fn written(event: &Event) -> (&'static str, String) {
    // Writing into memory fails only for types that have no JSON, and an event has.
    let json = serde_json::to_string(event).unwrap_or_default();
    (event.body.kind(), json)
}
