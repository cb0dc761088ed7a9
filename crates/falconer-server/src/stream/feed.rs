//! What is said to one who follows a session.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use falconer_event::ItemId;
use falconer_hub::{Delta, Deltas};
use falconer_store::{
    Error as StoreError, EventQuery, EventRow, InputQuery, InputState, RequestQuery, SessionId,
};
use futures_util::FutureExt as _;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::api::{Request, Session};
use crate::app::App;
use crate::auth::principal::Principal;
use crate::problem::{Code, Problem};
use crate::stream::frame::{Frame, Hello, Resume};

/// Events read at a time.
const PAGE: usize = 128;
/// Pieces of texts that wait for the event they come after.
const MOST_HELD: usize = 1024;

/// What is said to one who follows a session.
#[derive(Debug)]
pub(crate) struct Feed {
    app: Arc<App>,
    principal: Principal,
    session: SessionId,
    /// The number of the last event that was said.
    after: u64,
    greeting: Option<Frame>,
    /// The session as it was told last, without what changes all the time.
    told: Session,
    wake: watch::Receiver<()>,
    revoked: watch::Receiver<u64>,
    deltas: Option<Deltas>,
    held: VecDeque<Delta>,
    /// How much of each text under way was said.
    said: HashMap<ItemId, u64>,
    ping: Interval,
    is_over: bool,
    _place: OwnedSemaphorePermit,
}

impl Feed {
    /// Follows a session from after an event.
    pub(crate) async fn open(
        app: Arc<App>,
        principal: Principal,
        session: SessionId,
        after: u64,
    ) -> Result<Self, Problem> {
        let place = app.stream_place()?;
        // Listen first, read then: what is written in between is seen twice, not never.
        let wake = app.wakeups.of(&session);
        let revoked = app.revoked.subscribe();
        let deltas = app.hub.deltas(&session);
        let (told, greeting, after) = greet(&app, &session, after).await?;
        let every = app.config.caps.ping;
        let mut ping = interval_at(Instant::now() + every, every);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            app,
            principal,
            session,
            after,
            greeting: Some(greeting),
            told: told.face(),
            wake,
            revoked,
            deltas: Some(deltas),
            held: VecDeque::new(),
            said: HashMap::new(),
            ping,
            is_over: false,
            _place: place,
        })
    }

    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }

    /// The next things to say; `None` if there is nothing more to say, ever.
    pub(crate) async fn next(&mut self) -> Option<Vec<Frame>> {
        if let Some(greeting) = self.greeting.take() {
            return Some(vec![greeting]);
        }
        if self.is_over {
            return None;
        }
        loop {
            self.wake.mark_unchanged();
            let frames = match self.read().await {
                Ok(frames) => frames,
                Err(StoreError::NotFound { .. }) => return self.gone(),
                Err(error) => {
                    tracing::warn!(%error, session = %self.session, "failed to follow a session");
                    return None;
                }
            };
            if !frames.is_empty() {
                return Some(frames);
            }
            if let Some(frames) = self.wait().await? {
                return Some(frames);
            }
        }
    }

    /// What is new in the store.
    async fn read(&mut self) -> Result<Vec<Frame>, StoreError> {
        let query = EventQuery::after(self.after).limit(PAGE);
        let page = self.app.store.events(&self.session, query).await?;
        self.listen();
        self.app.metrics.sent(page.events.len());
        let more = page.more;
        let mut frames = self.merge(page.events);
        if !more {
            let record = self.app.store.session(&self.session).await?;
            let session = Session::from(record);
            let face = session.face();
            if face != self.told {
                self.told = face;
                frames.push(Frame::Session(json(&session)));
            }
        }
        Ok(frames)
    }

    /// Takes the pieces that are there.
    fn listen(&mut self) {
        while let Some(deltas) = &mut self.deltas {
            match deltas.next().now_or_never() {
                Some(Some(delta)) => self.hold(delta),
                Some(None) => self.deltas = None,
                None => return,
            }
        }
    }

    /// Keeps a piece until its event was read. When there are too many, the texts so far, which
    /// come again, take their place.
    fn hold(&mut self, delta: Delta) {
        if self.held.len() == MOST_HELD {
            self.held.clear();
            self.deltas = Some(self.app.hub.deltas(&self.session));
            return;
        }
        self.held.push_back(delta);
    }

    /// Events and pieces in the order in which they happened. Pieces that come too late are
    /// dropped: the whole text is in an event. Pieces whose event is not read yet stay.
    fn merge(&mut self, events: Vec<EventRow>) -> Vec<Frame> {
        let mut frames = Vec::with_capacity(events.len());
        let after = self.after;
        self.held.retain(|delta| delta.seq >= after);
        for event in events {
            self.release(&mut frames, |delta| delta.seq < event.seq);
            self.after = event.seq;
            if event.kind == "turn.completed" || event.kind == "run.completed" {
                self.said.clear();
            }
            frames.push(Frame::Event {
                seq: event.seq,
                json: event.json,
            });
        }
        let after = self.after;
        self.release(&mut frames, |delta| delta.seq <= after);
        frames
    }

    /// Says the pieces that are due, nothing of a text twice.
    fn release(&mut self, frames: &mut Vec<Frame>, is_due: impl Fn(&Delta) -> bool) {
        while let Some(delta) = self.held.pop_front_if(|delta| is_due(delta)) {
            let said = self.said.get(&delta.item).copied().unwrap_or(0);
            if let Some(delta) = delta.after(said) {
                let end = delta.offset + delta.length;
                frames.push(Frame::Delta(delta.json));
                self.said.insert(delta.item, end);
            }
        }
    }

    /// Waits until it is worth looking again, or for something to say at once. `None` if the
    /// stream is over.
    async fn wait(&mut self) -> Option<Option<Vec<Frame>>> {
        tokio::select! {
            () = self.app.end.cancelled() => None,
            changed = self.wake.changed() => changed.ok().map(|()| None),
            delta = piece(&mut self.deltas) => {
                match delta {
                    Some(delta) => self.hold(delta),
                    None => self.deltas = None,
                }
                Some(None)
            }
            _ = self.revoked.changed() => self.is_welcome().await.then_some(None),
            _ = self.ping.tick() => {
                self.is_welcome().await.then(|| Some(vec![Frame::ping()]))
            }
        }
    }

    async fn is_welcome(&self) -> bool {
        self.app.still_good(&self.principal).await
    }

    /// Somebody deleted the session: say so, once.
    fn gone(&mut self) -> Option<Vec<Frame>> {
        self.is_over = true;
        Some(vec![Frame::gone(&self.session)])
    }
}

/// The next piece; for ever if there is none to come.
async fn piece(deltas: &mut Option<Deltas>) -> Option<Delta> {
    match deltas {
        Some(deltas) => deltas.next().await,
        None => std::future::pending().await,
    }
}

async fn greet(app: &App, id: &SessionId, asked: u64) -> Result<(Session, Frame, u64), Problem> {
    let failed = |error: StoreError| match error {
        StoreError::NotFound { .. } => Problem::not_found("session", id),
        error => Problem::internal("read a session", error),
    };
    let record = app.store.session(id).await.map_err(failed)?;
    let queued = InputQuery::states([InputState::Queued]);
    let queue = app.store.inputs(id, queued).await.map_err(failed)?;
    let pending = RequestQuery::pending().session(id.clone());
    let pending = app.store.requests(pending).await.map_err(failed)?;
    let session = Session::from(record);
    let (resume, after) = match asked {
        0 => (Resume::Fresh, 0),
        asked if asked <= session.head => (Resume::Resumed, asked),
        _ => (Resume::Gap, 0),
    };
    let hello = Hello {
        resume,
        after,
        head: session.head,
        session: &session,
        pending: pending.into_iter().map(Request).collect(),
        queue,
    };
    let frame = Frame::Hello(json(&hello));
    Ok((session, frame, after))
}

/// The number of the last event the client has.
pub(crate) fn last_seen(header: Option<&str>, query: Option<u64>) -> Result<u64, Problem> {
    match header {
        None | Some("") => Ok(query.unwrap_or(0)),
        Some(text) => text.parse().map_err(|_| {
            Problem::new(
                Code::InvalidValue,
                "Last-Event-ID is not the number of an event",
            )
        }),
    }
}

pub(crate) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
