//! What is said to one who follows everything: sessions and requests as they change, no events.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use falconer_store::{
    Change, Error as StoreError, RequestId, RequestQuery, SessionId, SessionQuery, Watcher,
};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::api::{Request, Session};
use crate::app::App;
use crate::auth::principal::Principal;
use crate::problem::Problem;
use crate::stream::feed::json;
use crate::stream::frame::Frame;

/// Sessions in the greeting: those that changed last.
const GREETED: usize = 500;
/// Changes of one session within this time are told once.
const GATHER: Duration = Duration::from_millis(100);

/// What is said to one who follows everything.
#[derive(Debug)]
pub(crate) struct Overview {
    app: Arc<App>,
    principal: Principal,
    watcher: Watcher,
    revoked: watch::Receiver<u64>,
    ping: Interval,
    greeting: Option<Frame>,
    /// Sessions to look at.
    changed: BTreeSet<SessionId>,
    /// Sessions as they were told.
    told: HashMap<SessionId, Session>,
    /// Requests that were told as open.
    open: HashMap<RequestId, SessionId>,
    _place: OwnedSemaphorePermit,
}

#[derive(Serialize)]
struct Hello {
    sessions: Vec<Session>,
    requests: Vec<Request>,
}

impl Overview {
    pub(crate) async fn open(app: Arc<App>, principal: Principal) -> Result<Self, Problem> {
        let place = app.stream_place()?;
        let watcher = app.store.watch();
        let revoked = app.revoked.subscribe();
        let every = app.config.caps.ping;
        let mut ping = interval_at(Instant::now() + every, every);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut overview = Self {
            app,
            principal,
            watcher,
            revoked,
            ping,
            greeting: None,
            changed: BTreeSet::new(),
            told: HashMap::new(),
            open: HashMap::new(),
            _place: place,
        };
        let hello = overview.look_at_all().await;
        let hello = hello.map_err(|error| Problem::internal("list the sessions", error))?;
        overview.greeting = Some(hello);
        Ok(overview)
    }

    /// The next things to say; `None` if there is nothing more to say, ever.
    pub(crate) async fn next(&mut self) -> Option<Vec<Frame>> {
        if let Some(greeting) = self.greeting.take() {
            return Some(vec![greeting]);
        }
        loop {
            let frames = match self.look().await {
                Ok(frames) => frames,
                Err(error) => {
                    tracing::warn!(%error, "failed to follow the sessions");
                    return None;
                }
            };
            if !frames.is_empty() {
                return Some(frames);
            }
            tokio::select! {
                () = self.app.end.cancelled() => return None,
                change = self.watcher.changed() => match change? {
                    Change::Session(session) => {
                        self.changed.insert(session);
                        self.gather().await?;
                    }
                    Change::Rules => {}
                    _ => return self.again().await,
                },
                _ = self.revoked.changed() => {
                    if !self.app.still_good(&self.principal).await {
                        return None;
                    }
                }
                _ = self.ping.tick() => {
                    let is_good = self.app.still_good(&self.principal).await;
                    return is_good.then(|| vec![Frame::ping()]);
                }
            }
        }
    }

    /// Takes more changes for a moment. `None` if the store is closed.
    async fn gather(&mut self) -> Option<()> {
        let until = Instant::now() + GATHER;
        while let Ok(change) = tokio::time::timeout_at(until, self.watcher.changed()).await {
            match change? {
                Change::Session(session) => {
                    self.changed.insert(session);
                }
                Change::Rules => {}
                _ => {
                    self.changed.extend(self.told.keys().cloned());
                    self.changed.extend(self.open.values().cloned());
                }
            }
        }
        Some(())
    }

    /// Too much happened to say what: everything from the beginning.
    async fn again(&mut self) -> Option<Vec<Frame>> {
        match self.look_at_all().await {
            Ok(hello) => Some(vec![hello]),
            Err(error) => {
                tracing::warn!(%error, "failed to follow the sessions");
                None
            }
        }
    }

    async fn look_at_all(&mut self) -> Result<Frame, StoreError> {
        let query = {
            let mut query = SessionQuery::default();
            query.limit = GREETED;
            query
        };
        let page = self.app.store.sessions(query).await?;
        let sessions: Vec<Session> = page.sessions.into_iter().map(Session::from).collect();
        let requests = self.app.store.requests(RequestQuery::pending()).await?;
        let told = sessions
            .iter()
            .map(|session| (session.id.clone(), session.face()));
        self.told = told.collect();
        let open = requests
            .iter()
            .map(|request| (request.id.clone(), request.session.clone()));
        self.open = open.collect();
        self.changed.clear();
        let requests = requests.into_iter().map(Request).collect();
        Ok(Frame::Hello(json(&Hello { sessions, requests })))
    }

    async fn look(&mut self) -> Result<Vec<Frame>, StoreError> {
        let mut frames = Vec::new();
        while let Some(session) = self.changed.pop_first() {
            self.look_at(session, &mut frames).await?;
        }
        Ok(frames)
    }

    async fn look_at(&mut self, id: SessionId, frames: &mut Vec<Frame>) -> Result<(), StoreError> {
        let session = match self.app.store.session(&id).await {
            Ok(record) => Session::from(record),
            Err(StoreError::NotFound { .. }) => {
                self.open.retain(|_, session| *session != id);
                self.told.remove(&id);
                frames.push(Frame::gone(&id));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let face = session.face();
        if self.told.get(&id) != Some(&face) {
            frames.push(Frame::Session(json(&session)));
            self.told.insert(id.clone(), face);
        }
        self.look_at_requests(&id, frames).await
    }

    async fn look_at_requests(
        &mut self,
        id: &SessionId,
        frames: &mut Vec<Frame>,
    ) -> Result<(), StoreError> {
        let query = RequestQuery::pending().session(id.clone());
        let pending = self.app.store.requests(query).await?;
        let settled: Vec<RequestId> = self
            .open
            .iter()
            .filter(|(request, session)| {
                *session == id && !pending.iter().any(|open| open.id == **request)
            })
            .map(|(request, _)| request.clone())
            .collect();
        for request in settled {
            self.open.remove(&request);
            if let Ok(request) = self.app.store.request(&request).await {
                frames.push(Frame::Request(json(&Request(request))));
            }
        }
        for request in pending {
            if self.open.insert(request.id.clone(), id.clone()).is_none() {
                frames.push(Frame::Request(json(&Request(request))));
            }
        }
        Ok(())
    }
}
