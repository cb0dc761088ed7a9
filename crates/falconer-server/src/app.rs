//! What every route can reach.

use std::sync::Arc;
use std::time::{Duration, Instant};

use falconer_hub::Hub;
use falconer_store::{NewAudit, SessionId, Store};
use serde_json::Value;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::attempts::Attempts;
use crate::auth::codes::Codes;
use crate::auth::cookie::Transport;
use crate::auth::principal::Principal;
use crate::config::ServerConfig;
use crate::metrics::Metrics;
use crate::problem::{Code, Problem};
use crate::roots::Roots;
use crate::stream::wake::Wakeups;

/// How long it counts that the store could be written.
const READY_FOR: Duration = Duration::from_millis(500);

/// What every route can reach.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) config: ServerConfig,
    pub(crate) roots: Roots,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) hub: Hub,
    pub(crate) attempts: Attempts,
    pub(crate) codes: Codes,
    /// Counts revocations: open streams look again whether theirs was meant.
    pub(crate) revoked: watch::Sender<u64>,
    pub(crate) wakeups: Wakeups,
    pub(crate) metrics: Metrics,
    streams: Arc<Semaphore>,
    /// The last answer of the store, and when it came.
    ready: Mutex<Option<(Instant, Result<(), String>)>>,
    /// What goes on although the one who asked for it is gone.
    pub(crate) work: TaskTracker,
    pub(crate) openapi: String,
    /// The server stops; streams end.
    pub(crate) end: CancellationToken,
}

impl App {
    pub(crate) fn new(
        config: ServerConfig,
        hub: Hub,
        store: Arc<dyn Store>,
        openapi: String,
    ) -> Self {
        Self {
            roots: Roots::new(&config.roots),
            store,
            hub,
            attempts: Attempts::new(config.caps.failures),
            codes: Codes::new(config.caps.code_life),
            revoked: watch::Sender::new(0),
            wakeups: Wakeups::default(),
            metrics: Metrics::default(),
            streams: Arc::new(Semaphore::new(config.caps.streams)),
            ready: Mutex::new(None),
            work: TaskTracker::new(),
            openapi,
            end: CancellationToken::new(),
            config,
        }
    }

    /// Returns why the store cannot be written, if it cannot.
    ///
    /// Anybody may ask, and each time something is written: so an answer holds for a moment.
    pub(crate) async fn is_ready(&self) -> Result<(), String> {
        let mut last = self.ready.lock().await;
        if let Some((since, answer)) = last.as_ref()
            && since.elapsed() < READY_FOR
        {
            return answer.clone();
        }
        let answer = self.store.ping().await.map_err(|error| {
            tracing::warn!(%error, "not ready");
            // The path of the store is nobody's business.
            match error {
                falconer_store::Error::Full { .. } => "the disk of the store is full",
                falconer_store::Error::ReadOnly { .. } => "the store cannot be written",
                _ => "the store does not answer",
            }
            .to_owned()
        });
        *last = Some((Instant::now(), answer.clone()));
        answer
    }

    /// Room for one more stream, held as long as it is open.
    pub(crate) fn stream_place(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let text = "too many event streams are open";
        Arc::clone(&self.streams)
            .try_acquire_owned()
            .map_err(|_| Problem::new(Code::TooManyStreams, text))
    }

    /// Does something to its end, even if the client hangs up meanwhile.
    pub(crate) async fn finish<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Problem> {
        let done = self.work.spawn(work).await;
        done.map_err(|error| Problem::internal("finish what was asked", error))
    }

    pub(crate) fn open_streams(&self) -> usize {
        self.config
            .caps
            .streams
            .saturating_sub(self.streams.available_permits())
    }

    pub(crate) fn transport(&self) -> Transport {
        if self.config.is_encrypted() {
            Transport::Encrypted
        } else {
            Transport::Loopback
        }
    }

    /// Writes down who did what. What was done stays done if that fails; the log tells.
    pub(crate) async fn audit(
        &self,
        principal: &Principal,
        action: &str,
        session: Option<&SessionId>,
        detail: Value,
    ) {
        let mut audit = NewAudit::new(principal.who(), action).detail(detail);
        if let Some(session) = session {
            audit = audit.session(session.clone());
        }
        if let Err(error) = self.store.audit(audit).await {
            tracing::error!(%error, action, "failed to write the audit log");
        }
    }
}
