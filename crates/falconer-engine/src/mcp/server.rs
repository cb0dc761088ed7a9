//! One server and the task that keeps it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use falconer_protocol::mcp::{McpConnection, McpServerInfo, McpServerStatus, McpToolStatus};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Wiring;
use super::config::{self, Declared};
use super::connection::{self, ConnectFailure, Connection, Wanted};
use super::listing::{self, Listed};
use super::manifest::Manifest;
use super::transport::stdio::Child;

/// Least time between two readings of a server's list: it may say that it changed all the time.
const LIST_PAUSE: Duration = Duration::from_millis(250);

/// A server, whatever its state.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) declared: Declared,
    pub(super) wiring: Wiring,
    state: watch::Sender<State>,
    stop: CancellationToken,
    keeper: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Clone)]
pub(super) enum State {
    Pending,
    Connected(Live),
    Failed(String),
    /// It answered and then went away; it is started again when it is called.
    Lost {
        why: String,
        tools: Arc<[Arc<Listed>]>,
    },
    NeedsAuth,
    Disabled,
}

/// A server that answers, and what it offers.
#[derive(Debug, Clone)]
pub(super) struct Live {
    pub(super) connection: Arc<Connection>,
    pub(super) tools: Arc<[Arc<Listed>]>,
}

impl Server {
    /// Starts to connect in the background.
    pub(super) fn start(mut declared: Declared, wiring: Wiring) -> Arc<Self> {
        // Good for this connection only: a later one asks the server itself.
        let manifest = declared.manifest.take();
        let server = Self::with_state(declared, wiring, State::Pending);
        server.connect(manifest);
        server
    }

    fn connect(&self, manifest: Option<Manifest>) {
        let keeping = Keeping {
            declared: self.declared.clone(),
            manifest,
            wiring: self.wiring.clone(),
            state: self.state.clone(),
            stop: self.stop.clone(),
        };
        let keeper = tokio::spawn(keeping.keep());
        *self.keeper.lock().unwrap_or_else(PoisonError::into_inner) = Some(keeper);
    }

    /// The server to talk to. One that went away is started again, by the first who asks; the
    /// others wait with him.
    pub(super) async fn awake(&self) -> Option<Live> {
        let lost = self.state.send_if_modified(|state| {
            let lost = matches!(state, State::Lost { .. }) && !self.stop.is_cancelled();
            if lost {
                *state = State::Pending;
            }
            lost
        });
        if lost {
            self.connect(None);
        }
        self.settled().await;
        self.live()
    }

    /// What it offers, also while it is away.
    pub(super) fn tools(&self) -> Option<Arc<[Arc<Listed>]>> {
        match &*self.state.borrow() {
            State::Connected(live) => Some(Arc::clone(&live.tools)),
            State::Lost { tools, .. } => Some(Arc::clone(tools)),
            _ => None,
        }
    }

    /// A server that is switched off.
    pub(super) fn disabled(declared: Declared, wiring: Wiring) -> Arc<Self> {
        Self::with_state(declared, wiring, State::Disabled)
    }

    fn with_state(declared: Declared, wiring: Wiring, state: State) -> Arc<Self> {
        Arc::new(Self {
            declared,
            wiring,
            state: watch::Sender::new(state),
            stop: CancellationToken::new(),
            keeper: Mutex::default(),
        })
    }

    pub(super) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub(super) fn live(&self) -> Option<Live> {
        match &*self.state.borrow() {
            State::Connected(live) => Some(live.clone()),
            _ => None,
        }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// Waits until it is known whether it works.
    pub(super) async fn settled(&self) -> State {
        let mut states = self.state.subscribe();
        let settled = states
            .wait_for(|state| !matches!(state, State::Pending))
            .await;
        settled.map_or(State::Disabled, |state| state.clone())
    }

    /// Ends the connection and waits until no process of it is left.
    pub(super) async fn end(&self) {
        self.stop.cancel();
        let keeper = {
            let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
            keeper.take()
        };
        if let Some(keeper) = keeper {
            let _ = keeper.await;
        }
    }

    pub(super) fn call_limit(&self) -> Duration {
        let own = config::call_millis(&self.declared.config);
        own.map_or_else(|| self.wiring.call_limit(), Duration::from_millis)
    }

    pub(super) fn status(&self) -> McpServerStatus {
        let declared = &self.declared;
        let transport = config::transport(&declared.config);
        let mut status = McpServerStatus {
            name: declared.name.clone(),
            config: config::public(&declared.config),
            transport: Some(transport.to_owned()),
            scope: Some(declared.origin.scope().to_owned()),
            source: Some(self.source().to_owned()),
            ..McpServerStatus::default()
        };
        match self.state() {
            State::Pending => status.status = McpConnection::Pending,
            State::Disabled => status.status = McpConnection::Disabled,
            State::NeedsAuth => status.status = McpConnection::NeedsAuth,
            State::Failed(why) | State::Lost { why, .. } => {
                status.status = McpConnection::Failed;
                status.error = Some(why);
            }
            State::Connected(live) => {
                status.status = McpConnection::Connected;
                status.server_info = live.info();
                status.tools = Some(live.tools.iter().map(|tool| tool_status(tool)).collect());
            }
        }
        status
    }

    /// Where it comes from, as permission questions and statuses say it.
    pub(super) fn source(&self) -> &str {
        match config::transport(&self.declared.config) {
            "sdk" => "sdk",
            _ => self.declared.origin.scope(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Live {
    fn info(&self) -> Option<McpServerInfo> {
        let peer = self.connection.peer().peer_info()?;
        let server = peer.server_info.as_ref()?;
        Some(McpServerInfo {
            name: server.name.clone(),
            version: Some(server.version.clone()),
            ..McpServerInfo::default()
        })
    }

    pub(super) fn has_resources(&self) -> bool {
        let info = self.connection.peer().peer_info();
        info.is_some_and(|info| info.capabilities.resources.is_some())
    }
}

fn tool_status(tool: &Listed) -> McpToolStatus {
    let mut annotations = json!({});
    let hints = [
        ("readOnly", tool.read_only),
        ("destructive", tool.destructive),
        ("openWorld", tool.open_world),
    ];
    for (name, _) in hints.iter().filter(|(_, hint)| *hint == Some(true)) {
        annotations[*name] = Value::Bool(true);
    }
    McpToolStatus {
        name: tool.own_name.clone(),
        annotations: Some(annotations),
        ..McpToolStatus::default()
    }
}

/// What the task of a server works with. It has no hold on the [`Server`] itself: dropping that
/// ends the task.
struct Keeping {
    declared: Declared,
    manifest: Option<Manifest>,
    wiring: Wiring,
    state: watch::Sender<State>,
    stop: CancellationToken,
}

impl Keeping {
    /// The tools that were listed last.
    fn offered(&self) -> Arc<[Arc<Listed>]> {
        match &*self.state.borrow() {
            State::Connected(live) => Arc::clone(&live.tools),
            _ => Arc::new([]),
        }
    }

    /// Connects, and stays until the server or the session ends.
    async fn keep(self) {
        let changed = Arc::new(Notify::new());
        let last = match Box::pin(self.open(&changed)).await {
            Ok((live, child)) => self.attend(live, child, &changed).await,
            Err(_) if self.stop.is_cancelled() => State::Disabled,
            Err(ConnectFailure::NeedsAuth) => State::NeedsAuth,
            Err(ConnectFailure::Failed(why) | ConnectFailure::Stateless(why)) => State::Failed(why),
        };
        self.state.send_replace(last);
    }

    /// Connects within the limit, or leaves nothing behind.
    async fn open(&self, changed: &Arc<Notify>) -> Result<(Live, Option<Child>), ConnectFailure> {
        let limit = self.wiring.connect_limit();
        let give_up = self.stop.child_token();
        let mut opening = std::pin::pin!(self.open_unless(&give_up, changed));
        tokio::select! {
            opened = &mut opening => return opened,
            () = tokio::time::sleep(limit) => give_up.cancel(),
        }
        // It may have been ready at the last moment.
        let millis = limit.as_millis();
        let why = format!("the server was not ready within {millis} ms (MCP_TIMEOUT)");
        opening.await.map_err(|_| ConnectFailure::Failed(why))
    }

    async fn open_unless(
        &self,
        give_up: &CancellationToken,
        changed: &Arc<Notify>,
    ) -> Result<(Live, Option<Child>), ConnectFailure> {
        let Declared { name, config, .. } = &self.declared;
        let wanted = Wanted {
            name,
            config,
            manifest: self.manifest.as_ref(),
        };
        let opened = connection::open(&wanted, &self.wiring, changed, give_up);
        let (connection, child) = opened.await?;
        let listing = async {
            list(name, &connection).await.map_err(|error| {
                ConnectFailure::Failed(format!("the server did not list its tools: {error}"))
            })
        };
        match connection::unless(give_up, listing).await {
            Ok(tools) => Ok((Live { connection, tools }, child)),
            Err(failure) => {
                connection.close();
                if let Some(child) = child {
                    child.end().await;
                }
                Err(failure)
            }
        }
    }

    /// Looks after a server that answers; returns what is left of it.
    async fn attend(&self, live: Live, child: Option<Child>, changed: &Notify) -> State {
        let connection = Arc::clone(&live.connection);
        self.state.send_replace(State::Connected(live));
        let watching = watch_over(&self.declared.name, &connection, changed, &self.state);
        let stopped = tokio::select! {
            biased;
            () = self.stop.cancelled() => true,
            () = watching => false,
        };
        connection.close();
        let words = match child {
            Some(child) => child.end().await,
            None => "it closed the connection".to_owned(),
        };
        if stopped {
            State::Disabled
        } else {
            State::Lost {
                why: format!("the server is gone: {words}"),
                tools: self.offered(),
            }
        }
    }
}

/// Returns when the connection is gone; reads the list of tools again when it changed.
async fn watch_over(
    name: &str,
    connection: &Arc<Connection>,
    changed: &Notify,
    state: &watch::Sender<State>,
) {
    let listing = async {
        loop {
            changed.notified().await;
            match list(name, connection).await {
                Ok(tools) => drop(state.send_replace(State::Connected(Live {
                    connection: Arc::clone(connection),
                    tools,
                }))),
                Err(error) => tracing::warn!(name, %error, "kept the old list of tools"),
            }
            tokio::time::sleep(LIST_PAUSE).await;
        }
    };
    tokio::select! {
        () = connection.ended.cancelled() => {}
        () = listing => {}
    }
}

async fn list(
    name: &str,
    connection: &Connection,
) -> Result<Arc<[Arc<Listed>]>, rmcp::ServiceError> {
    let tools = listing::tools(name, connection.peer()).await?;
    Ok(tools.into_iter().map(Arc::new).collect())
}
