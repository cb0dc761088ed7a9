//! All servers of a session.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use falconer_protocol::control::McpSetServersResponse;
use falconer_protocol::mcp::{McpServerConfig, McpServerStatus};
use falconer_protocol::{Object, ToolUseId};
use futures_util::future::join_all;
use rmcp::model::{
    ContentBlock, ErrorCode, ReadResourceRequestParams, ResourceContents, ServerJsonRpcMessage,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::config::{self, Declared, Origin};
use super::resource::{ListResources, ReadResource};
use super::server::{Server, State};
use super::tool::McpTool;
use super::{Wiring, listing};
use crate::tool::Tool;

/// The servers of a session. Cheap to clone; all clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Servers {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    wiring: Wiring,
    state: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    servers: BTreeMap<String, Arc<Server>>,
    closed: bool,
}

/// Why a request about a server was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ServerError {
    #[error("Server not found: {0}")]
    NotFound(String),
    #[error("server `{0}` is not one of the host's own")]
    NotInHost(String),
    #[error("cannot read the message for server `{0}`")]
    Malformed(String),
    #[error("server `{server}` is not connected: {why}")]
    NotConnected { server: String, why: String },
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallFailure {
    /// What the server said.
    #[error("{0}")]
    Refused(String),
    #[error("the tool call was interrupted before a result was received")]
    Interrupted,
    #[error("the tool did not answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("MCP server `{server}` is not connected: {why}")]
    NotConnected { server: String, why: String },
    #[error("there is no tool `{0}`")]
    NoSuchTool(String),
    #[error("there is no resource `{0}`; it may be gone, so list the resources again")]
    NoSuchResource(String),
    #[error("the server's answer cannot be used: {0}")]
    Broken(String),
}

impl Servers {
    /// Starts to connect to all servers at once, in the background.
    pub(crate) fn connect(declared: Vec<Declared>, wiring: Wiring) -> Self {
        let shared = Arc::new(Shared {
            wiring,
            state: Mutex::default(),
        });
        let servers = Self { shared };
        servers.add(declared);
        servers
    }

    /// Adds servers, as `initialize` does. Those whose name is taken stay as they are.
    pub(crate) fn add(&self, declared: Vec<Declared>) {
        let mut known = self.known();
        if known.closed {
            return;
        }
        for declared in declared {
            if known.servers.contains_key(&declared.name) {
                continue;
            }
            let name = declared.name.clone();
            let server = Server::start(declared, self.shared.wiring.clone());
            known.servers.insert(name, server);
        }
    }

    /// Whether there is a server of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.known().servers.contains_key(name)
    }

    /// Waits until each server has connected or failed: at most `MCP_TIMEOUT`.
    pub(crate) async fn settled(&self) {
        let servers = self.all();
        join_all(servers.iter().map(|server| server.settled())).await;
    }

    pub(crate) fn status(&self) -> Vec<McpServerStatus> {
        self.all().iter().map(|server| server.status()).collect()
    }

    /// The tools of all connected servers. A name belongs to the first who has it.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut names = HashSet::new();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        let mut with_resources = false;
        for server in self.all() {
            let Some(offered) = server.tools() else {
                continue;
            };
            with_resources |= server.live().is_some_and(|live| live.has_resources());
            for listed in offered.iter() {
                if !names.insert(listed.name.clone()) {
                    tracing::warn!(tool = listed.name, "left out: another server has this name");
                    continue;
                }
                tools.push(Arc::new(McpTool {
                    server: Arc::clone(&server),
                    listed: Arc::clone(listed),
                }));
            }
        }
        if with_resources {
            tools.push(Arc::new(ListResources::new(self.clone())));
            tools.push(Arc::new(ReadResource::new(self.clone())));
        }
        tools
    }

    /// Replaces the servers that were set in this way before. Unchanged ones stay connected.
    pub(crate) async fn set_servers(
        &self,
        wanted: &BTreeMap<String, McpServerConfig>,
    ) -> McpSetServersResponse {
        let mut response = McpSetServersResponse::default();
        let mut leaving = Vec::new();
        let mut coming = Vec::new();
        {
            let mut known = self.known();
            let dropped = known.servers.values().filter(|server| {
                let same = wanted.get(&server.declared.name) == Some(&server.declared.config);
                server.declared.origin == Origin::Session && !same
            });
            let dropped: Vec<String> = dropped.map(|it| it.declared.name.clone()).collect();
            for name in dropped {
                leaving.extend(known.servers.remove(&name));
                response.removed.push(name);
            }
            for (name, config) in wanted {
                match known
                    .servers
                    .get(name)
                    .map(|server| &server.declared.origin)
                {
                    Some(Origin::Session) => continue,
                    Some(_) => {
                        let why = "a server of this name is configured already".to_owned();
                        response.errors.insert(name.clone(), why);
                        continue;
                    }
                    None => {}
                }
                match config::check(name, config) {
                    Err(why) => drop(response.errors.insert(name.clone(), why)),
                    Ok(()) => {
                        response.added.push(name.clone());
                        coming.push(Declared {
                            name: name.clone(),
                            config: config.clone(),
                            origin: Origin::Session,
                            manifest: None,
                        });
                    }
                }
            }
        }
        join_all(leaving.iter().map(|server| server.end())).await;
        // Those in the host are asked while it waits for the answer, so nobody waits for them.
        let outside = coming
            .iter()
            .filter(|it| config::transport(&it.config) != "sdk");
        let names: Vec<String> = outside.map(|it| it.name.clone()).collect();
        self.add(coming);
        for name in names {
            let Ok(server) = self.get(&name) else {
                continue;
            };
            if let State::Failed(why) = server.settled().await {
                response.errors.insert(name, why);
            }
        }
        response
    }

    /// Ends the connection and makes a new one.
    pub(crate) async fn reconnect(&self, name: &str) -> Result<(), ServerError> {
        let server = self.replace(name, Server::start).await?;
        match server.settled().await {
            State::Failed(why) | State::Lost { why, .. } => Err(ServerError::NotConnected {
                server: name.to_owned(),
                why,
            }),
            _ => Ok(()),
        }
    }

    /// Switches a server on or off.
    pub(crate) async fn toggle(&self, name: &str, switch: Switch) -> Result<(), ServerError> {
        let server = match switch {
            Switch::On => self.replace(name, Server::start).await?,
            Switch::Off => self.replace(name, Server::disabled).await?,
        };
        // Whether it could be connected is for its status to say.
        server.settled().await;
        Ok(())
    }

    /// Hands on a message that a server in the host sent by itself.
    pub(crate) fn incoming(&self, name: &str, message: Value) -> Result<(), ServerError> {
        let server = self.get(name)?;
        let live = server.live().ok_or_else(|| ServerError::NotConnected {
            server: name.to_owned(),
            why: server.absent().to_string(),
        })?;
        let in_host = live.connection.incoming.as_ref();
        let lane = in_host.ok_or_else(|| ServerError::NotInHost(name.to_owned()))?;
        let message: ServerJsonRpcMessage =
            serde_json::from_value(message).map_err(|_| ServerError::Malformed(name.to_owned()))?;
        if lane.try_send(message).is_err() {
            tracing::warn!(name, "dropped a message: too many are waiting");
        }
        Ok(())
    }

    /// Calls a tool by its name towards the model and returns the texts of its result, for
    /// `--permission-prompt-tool` and `mcp_call`.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Object,
        id: Option<&ToolUseId>,
        cancelled: &CancellationToken,
    ) -> Result<String, CallFailure> {
        let found = self.find(tool);
        let found = found.ok_or_else(|| CallFailure::NoSuchTool(tool.to_owned()))?;
        let own_name = &found.listed.own_name;
        let result = found
            .server
            .call(own_name, arguments, id, cancelled)
            .await?;
        let texts = result.content.iter().filter_map(|block| match block {
            ContentBlock::Text(block) => Some(block.text.as_str()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        match result.is_error {
            Some(true) => Err(CallFailure::Refused(text)),
            _ => Ok(text),
        }
    }

    /// The resources of one server, or of all.
    pub(super) async fn resources(&self, only: Option<&str>) -> Result<Vec<Value>, CallFailure> {
        let servers = match only {
            Some(name) => vec![
                self.get(name)
                    .map_err(|it| CallFailure::Refused(it.to_string()))?,
            ],
            None => self.all(),
        };
        let mut resources = Vec::new();
        for server in servers {
            let Some(live) = server.live().filter(|live| live.has_resources()) else {
                continue;
            };
            let listed = listing::resources(live.connection.peer());
            let limit = server.call_limit().min(Duration::from_secs(60));
            let listed = match tokio::time::timeout(limit, listed).await {
                Ok(Ok(listed)) => listed,
                Ok(Err(error)) if only.is_some() => {
                    return Err(CallFailure::Broken(error.to_string()));
                }
                Err(_) if only.is_some() => return Err(CallFailure::TimedOut(limit)),
                // One bad server must not hide the others.
                Ok(Err(_)) | Err(_) => continue,
            };
            for resource in listed {
                let mut value = serde_json::json!({"uri": resource.uri, "name": resource.name});
                if let Some(kind) = resource.mime_type {
                    value["mimeType"] = Value::String(kind);
                }
                if let Some(about) = resource.description {
                    value["description"] = Value::String(about);
                }
                value["server"] = Value::String(server.declared.name.clone());
                resources.push(value);
            }
        }
        Ok(resources)
    }

    /// Reads one resource.
    pub(crate) async fn read_resource(
        &self,
        server: &str,
        uri: &str,
        cancelled: &CancellationToken,
    ) -> Result<Vec<ResourceContents>, CallFailure> {
        let refused = |error: ServerError| CallFailure::Refused(error.to_string());
        let server = self.get(server).map_err(refused)?;
        let live = server.awake().await.ok_or_else(|| server.absent())?;
        let limit = server.call_limit();
        let params = ReadResourceRequestParams::new(uri);
        tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(CallFailure::Interrupted),
            read = live.connection.peer().read_resource(params) => match read {
                Ok(read) => Ok(read.contents),
                Err(rmcp::ServiceError::McpError(error)) if is_missing(error.code) => {
                    Err(CallFailure::NoSuchResource(uri.to_owned()))
                }
                Err(rmcp::ServiceError::McpError(error)) => {
                    Err(CallFailure::Refused(error.message.into()))
                }
                Err(error) => Err(CallFailure::Broken(error.to_string())),
            },
            () = tokio::time::sleep(limit) => Err(CallFailure::TimedOut(limit)),
        }
    }

    /// Ends all connections for good. No process is left after it.
    pub(crate) async fn close(&self) {
        let servers = {
            let mut known = self.known();
            known.closed = true;
            std::mem::take(&mut known.servers)
        };
        join_all(servers.values().map(|server| server.end())).await;
    }

    async fn replace(
        &self,
        name: &str,
        make: impl FnOnce(Declared, Wiring) -> Arc<Server>,
    ) -> Result<Arc<Server>, ServerError> {
        let old = self.get(name)?;
        old.end().await;
        let mut known = self.known();
        // It may have been removed, or replaced by somebody else, in the meantime.
        match known.servers.get(name) {
            Some(current) if Arc::ptr_eq(current, &old) => {}
            Some(current) => return Ok(Arc::clone(current)),
            None => return Err(ServerError::NotFound(name.to_owned())),
        }
        let server = make(old.declared.clone(), old.wiring.clone());
        known.servers.insert(name.to_owned(), Arc::clone(&server));
        Ok(server)
    }

    pub(super) fn find(&self, tool: &str) -> Option<McpTool> {
        self.all().into_iter().find_map(|server| {
            let offered = server.tools()?;
            let listed = offered.iter().find(|listed| listed.name == tool)?;
            let listed = Arc::clone(listed);
            Some(McpTool { server, listed })
        })
    }

    fn get(&self, name: &str) -> Result<Arc<Server>, ServerError> {
        let found = self.known().servers.get(name).map(Arc::clone);
        found.ok_or_else(|| ServerError::NotFound(name.to_owned()))
    }

    fn all(&self) -> Vec<Arc<Server>> {
        self.known().servers.values().map(Arc::clone).collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        let known = self.shared.state.lock();
        known.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a server says that it does not have what it was asked to read. Many say that the
/// address is an invalid parameter.
fn is_missing(code: ErrorCode) -> bool {
    [ErrorCode::RESOURCE_NOT_FOUND, ErrorCode::INVALID_PARAMS].contains(&code)
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    On,
    Off,
}
