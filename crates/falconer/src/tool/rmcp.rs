//! Any `rmcp` server, mounted in this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::{RoleServer, Service};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use super::MountedServer;

/// Number of messages that may wait for the server. More make the engine's requests wait.
const QUEUE: usize = 64;

/// An `rmcp` server that the engine reaches through its own connection.
///
/// The server is made anew whenever the engine starts a handshake. Requests of the server to
/// its client (sampling, roots) have no way to the engine and are refused.
///
/// ```
/// # #[derive(Clone)] struct Weather;
/// # impl rmcp::ServerHandler for Weather {}
/// use falconer::{Options, RmcpServer};
///
/// let options = Options::new().mount(RmcpServer::new("weather", || Weather));
/// # let _ = options;
/// ```
pub struct RmcpServer<F> {
    name: String,
    make: F,
    running: Mutex<Option<Running>>,
}

/// A server that has been started by a handshake.
#[derive(Clone)]
struct Running {
    to_server: mpsc::Sender<ClientJsonRpcMessage>,
    waiting: Waiting,
    _task: Arc<AbortOnDropHandle<()>>,
}

/// The engine's requests that the server has not answered, by JSON-RPC id.
type Waiting = Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<F, S> RmcpServer<F>
where
    F: Fn() -> S + Send + Sync + 'static,
    S: Service<RoleServer>,
{
    /// A server under a name; `make` makes it.
    pub fn new(name: impl Into<String>, make: F) -> Self {
        Self {
            name: name.into(),
            make,
            running: Mutex::new(None),
        }
    }

    /// Starts the server; one that was running is ended.
    fn start(&self) -> Running {
        let (to_server, from_engine) = mpsc::channel(QUEUE);
        let waiting = Waiting::default();
        let pipe = Pipe {
            from_engine,
            to_server: to_server.downgrade(),
            waiting: waiting.clone(),
        };
        let service = (self.make)();
        let task = tokio::spawn(async move {
            match rmcp::serve_server(service, pipe).await {
                Ok(running) => drop(running.waiting().await),
                Err(error) => tracing::warn!(%error, "a mounted MCP server did not start"),
            }
        });
        let running = Running {
            to_server,
            waiting,
            _task: Arc::new(AbortOnDropHandle::new(task)),
        };
        *lock(&self.running) = Some(running.clone());
        running
    }

    fn running(&self) -> Option<Running> {
        lock(&self.running).clone()
    }
}

impl<F, S> MountedServer for RmcpServer<F>
where
    F: Fn() -> S + Send + Sync + 'static,
    S: Service<RoleServer>,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn handle(self: Arc<Self>, message: Value) -> BoxFuture<'static, Option<Value>> {
        Box::pin(async move {
            let id = message.get("id").cloned();
            let starts = message["method"] == "initialize";
            let running = if starts {
                Some(self.start())
            } else {
                self.running()
            };
            let failed = |why: String| {
                let id = id.as_ref()?;
                Some(json!({ "jsonrpc": "2.0", "id": id,
                             "error": { "code": -32603, "message": why } }))
            };
            let Some(running) = running else {
                return failed(format!("server `{}` was not initialized", self.name));
            };
            match running.pass_on(message).await {
                Ok(answer) => answer,
                Err(why) => failed(format!("server `{}` {why}", self.name)),
            }
        })
    }
}

impl Running {
    /// Hands a message to the server and waits for the answer if there is to be one.
    async fn pass_on(&self, message: Value) -> Result<Option<Value>, String> {
        let id = message.get("id").map(Value::to_string);
        let message = serde_json::from_value(message)
            .map_err(|error| format!("cannot read the message: {error}"))?;
        let answer = id.map(|id| self.expect(id));
        let gone = || "has ended".to_owned();
        self.to_server.send(message).await.map_err(|_| gone())?;
        match answer {
            Some(answer) => answer.await.map(Some).map_err(|_| gone()),
            None => Ok(None),
        }
    }

    fn expect(&self, id: String) -> oneshot::Receiver<Value> {
        let (tx, rx) = oneshot::channel();
        lock(&self.waiting).insert(id, tx);
        rx
    }
}

/// The server's end of the connection.
struct Pipe {
    from_engine: mpsc::Receiver<ClientJsonRpcMessage>,
    to_server: mpsc::WeakSender<ClientJsonRpcMessage>,
    waiting: Waiting,
}

impl Pipe {
    /// Takes a line of the server: an answer goes to the caller that waits, a request is refused.
    async fn said(
        waiting: Waiting,
        to_server: mpsc::WeakSender<ClientJsonRpcMessage>,
        message: ServerJsonRpcMessage,
    ) {
        let value = serde_json::to_value(&message).unwrap_or_default();
        match message {
            ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_) => {
                let answered = lock(&waiting).remove(&value["id"].to_string());
                if let Some(answered) = answered {
                    let _ = answered.send(value);
                }
            }
            ServerJsonRpcMessage::Request(_) => {
                let refusal = json!({ "jsonrpc": "2.0", "id": value["id"], "error": {
                    "code": -32601, "message": "the engine takes no requests from servers" } });
                if let (Some(to_server), Ok(refusal)) =
                    (to_server.upgrade(), serde_json::from_value(refusal))
                {
                    let _ = to_server.send(refusal).await;
                }
            }
            ServerJsonRpcMessage::Notification(_) => {
                tracing::debug!(method = %value["method"], "notification of a mounted server");
            }
        }
    }
}

impl rmcp::transport::Transport<RoleServer> for Pipe {
    type Error = std::convert::Infallible;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (waiting, to_server) = (self.waiting.clone(), self.to_server.clone());
        async move {
            Self::said(waiting, to_server, message).await;
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.from_engine.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.from_engine.close();
        Ok(())
    }
}

impl<F> std::fmt::Debug for RmcpServer<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RmcpServer")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
