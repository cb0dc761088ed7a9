//! The scripted model behind HTTP on loopback, as the Messages API.

mod connection;
mod log;
mod routes;
mod stream;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

use crate::error::Error;
use crate::scenario::{Gates, Scenario, Script};

pub use log::RecordedRequest;

use connection::{Breaker, Connections};
use log::Log;

/// Limit on the waits of the server.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server on 127.0.0.1 that answers the Messages API out of a [`Scenario`].
///
/// It runs on a thread of its own, with a clock of its own, so it works from any runtime and
/// from none. Dropping it closes every connection.
///
/// ```
/// use falconer_testkit::ApiServer;
/// use falconer_testkit::scenario::{Scenario, text};
///
/// # fn main() -> Result<(), falconer_testkit::Error> {
/// let server = ApiServer::start(Scenario::new().turn(text("hello")))?;
/// // Run the program under test with ANTHROPIC_BASE_URL set to server.url() ...
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// assert!(server.unmatched().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ApiServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// State that the handlers and the test share.
#[derive(Debug)]
struct Shared {
    script: Mutex<Script>,
    log: Log,
    gates: Gates,
}

impl Shared {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ApiServer {
    /// Starts a server for the scenario on a free port.
    ///
    /// # Errors
    /// [`Error::Server`] when no port or thread can be had.
    pub fn start(scenario: Scenario) -> Result<Self, Error> {
        let shared = Arc::new(Shared {
            script: Mutex::new(Script::new(scenario)),
            log: Log::default(),
            gates: Gates::new(),
        });
        Self::run(shared).map_err(Error::Server)
    }

    fn run(shared: Arc<Shared>) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("scripted-api".to_owned())
            .spawn(move || serve(&runtime, listener, serving, stopped))?;
        Ok(Self {
            address,
            shared,
            runtime: handle,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The base URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request so far, side calls included, in order of arrival.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.log.all()
    }

    /// The requests of the main conversation so far.
    pub fn messages(&self) -> Vec<RecordedRequest> {
        self.shared.log.messages()
    }

    /// Returns the requests that had no answer in the scenario; a test should find this empty.
    pub fn unmatched(&self) -> Vec<String> {
        self.shared.log.unmatched()
    }

    /// The rules, by position, that have not been used as often as they should have been.
    pub fn unused_rules(&self) -> Vec<usize> {
        self.shared.script().unused()
    }

    /// Waits for the `n`th request of the main conversation, counted from 1.
    ///
    /// # Errors
    /// [`Error::Timeout`] after a minute.
    pub async fn wait_for_request(&self, n: usize) -> Result<RecordedRequest, Error> {
        let shared = Arc::clone(&self.shared);
        let arrived = async move { shared.log.wait_for_message(n).await };
        self.within(format!("request {n}"), arrived).await
    }

    /// Lets the replies pass that wait, or will wait, at a gate.
    pub fn release(&self, gate: &str) {
        self.shared.gates.release(gate);
    }

    /// Waits until a reply waits at the gate.
    ///
    /// # Errors
    /// [`Error::Timeout`] after a minute.
    pub async fn wait_held(&self, gate: &str) -> Result<(), Error> {
        let gates = self.shared.gates.clone();
        let name = gate.to_owned();
        let reached = async move { gates.reached(&name).await };
        self.within(format!("a reply at gate `{gate}`"), reached)
            .await
    }

    /// Waits on the server's own runtime, whose clock no test pauses.
    async fn within<T: Send + 'static>(
        &self,
        what: String,
        event: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Error> {
        let waiting = self.runtime.spawn(tokio::time::timeout(PATIENCE, event));
        match waiting.await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(_)) | Err(_) => Err(Error::Timeout {
                what,
                after: PATIENCE,
                seen: self.shared.log.summary(),
            }),
        }
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves until told to stop; the end of the runtime ends every connection.
fn serve(
    runtime: &Runtime,
    listener: std::net::TcpListener,
    shared: Arc<Shared>,
    stopped: oneshot::Receiver<()>,
) {
    runtime.block_on(async move {
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
            return;
        };
        let service = routes::router(shared).into_make_service_with_connect_info::<Breaker>();
        let serving = axum::serve(Connections(listener), service);
        tokio::select! {
            _ = stopped => {}
            _ = serving => {}
        }
    });
}
