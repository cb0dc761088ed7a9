//! One connection to a server, from the first message to the last.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use falconer_protocol::mcp::McpServerConfig;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerJsonRpcMessage};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::manifest::Manifest;
use super::transport::http::Bounded;
use super::transport::sdk::SdkTransport;
use super::transport::sse::{SseError, SseTransport};
use super::transport::stdio::{self, Child};
use super::transport::{LONGEST_MESSAGE, Watched};
use super::{Elicitation, Wiring, expand};
use crate::web::web_client;

/// A server that answers.
pub(super) struct Connection {
    pub(super) running: RunningService<RoleClient, Client>,
    /// Cancelled when there is no connection any more.
    pub(super) ended: CancellationToken,
    /// Where messages go that the host sends by itself; only for servers in the host.
    pub(super) incoming: Option<mpsc::Sender<ServerJsonRpcMessage>>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.running.peer()
    }

    pub(super) fn close(&self) {
        self.running.cancellation_token().cancel();
    }
}

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ConnectFailure {
    #[error("the server wants a login")]
    NeedsAuth,
    #[error("{0}")]
    Failed(String),
    /// The server does not know the handshake.
    #[error("{0}")]
    Stateless(String),
}

/// The two ways to begin: servers up to 2025-11-25 shake hands, later ones are only asked what
/// they can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    Handshake,
    Stateless,
}

/// The server to connect to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    pub(super) config: &'a McpServerConfig,
    pub(super) manifest: Option<&'a Manifest>,
}

/// Connects; the child, if there is one, belongs to the caller.
///
/// Fails soon after `give_up`; then no child is left.
///
/// Begins with the handshake, which nearly all servers know; one that refuses it is tried again
/// in the later way.
pub(super) async fn open(
    wanted: &Wanted<'_>,
    wiring: &Wiring,
    changed: &Arc<Notify>,
    give_up: &CancellationToken,
) -> Result<(Arc<Connection>, Option<Child>), ConnectFailure> {
    let config = expand::config(wanted.config.clone(), &wiring.environment);
    let config = config.map_err(|error| ConnectFailure::Failed(error.to_string()))?;
    super::config::check_policies(&config).map_err(ConnectFailure::Failed)?;
    learn(&config, wiring);
    let wanted = &Wanted {
        config: &config,
        ..*wanted
    };
    let attempt = |era| open_once(wanted, wiring, changed, era, give_up);
    match attempt(Era::Handshake).await {
        Err(ConnectFailure::Stateless(first)) => {
            let failed = |_| ConnectFailure::Failed(first);
            attempt(Era::Stateless).await.map_err(failed)
        }
        other => other,
    }
}

/// What a server is given to authenticate with is a secret everywhere else.
fn learn(config: &McpServerConfig, wiring: &Wiring) {
    let (given, url) = match config {
        McpServerConfig::Stdio(stdio) => (stdio.env.as_ref(), None),
        McpServerConfig::Sse(sse) => (sse.headers.as_ref(), Some(&sse.url)),
        McpServerConfig::Http(http) => (http.headers.as_ref(), Some(&http.url)),
        _ => return,
    };
    let redactor = wiring.environment.redactor();
    for (name, value) in given.into_iter().flatten() {
        redactor.learn_given(name, value);
    }
    if let Some(url) = url {
        redactor.learn_given("url", url);
    }
}

async fn open_once(
    wanted: &Wanted<'_>,
    wiring: &Wiring,
    changed: &Arc<Notify>,
    era: Era,
    give_up: &CancellationToken,
) -> Result<(Arc<Connection>, Option<Child>), ConnectFailure> {
    let Wanted { name, config, .. } = *wanted;
    let client = Client::new(name, wiring, Arc::clone(changed));
    match config {
        McpServerConfig::Stdio(config) => {
            let key = format!("mcpServers.{name}");
            let seal = wiring.seals.iter().find(|seal| seal.key() == key);
            if let Some(why) = seal.and_then(|seal| seal.broken(&wiring.cwd)) {
                return Err(ConnectFailure::Failed(format!(
                    "it was not started: {why}; run `falconer trust` and start a new session"
                )));
            }
            let started = stdio::start(config, wiring).await;
            let (child, pipes) = started.map_err(ConnectFailure::Failed)?;
            match unless(give_up, serve(client, pipes, None, era)).await {
                Ok(connection) => Ok((connection, Some(child))),
                Err(ConnectFailure::Failed(why)) => {
                    let words = child.end().await;
                    Err(ConnectFailure::Failed(format!("{why} ({words})")))
                }
                Err(other) => {
                    child.end().await;
                    Err(other)
                }
            }
        }
        McpServerConfig::Http(config) => {
            let transport = http(&config.url, config.headers.as_ref(), wiring)?;
            let serving = serve(client, transport, None, era);
            Ok((unless(give_up, serving).await?, None))
        }
        McpServerConfig::Sse(config) => {
            let headers = headers(config.headers.as_ref())?;
            let web = web_client(&wiring.environment).map_err(no_client)?;
            let opening = async {
                let opened = SseTransport::open(web, config, headers).await;
                opened.map_err(|error| match error {
                    SseError::Unauthorized => ConnectFailure::NeedsAuth,
                    other => ConnectFailure::Failed(other.to_string()),
                })
            };
            let transport = unless(give_up, opening).await?;
            let serving = serve(client, transport, None, era);
            Ok((unless(give_up, serving).await?, None))
        }
        McpServerConfig::Sdk(_) => {
            // These are told of no abilities: the host has its own ways to ask.
            let quiet = Wiring {
                elicitation: Elicitation::Decline,
                listener: None,
                ..wiring.clone()
            };
            let client = Client::new(name, &quiet, Arc::clone(changed));
            let host = wiring.host.clone();
            let known = wanted.manifest.cloned();
            let (transport, incoming) = SdkTransport::new(host, name.to_owned(), known);
            let serving = serve(client, transport, Some(incoming), era);
            Ok((unless(give_up, serving).await?, None))
        }
        _ => Err(ConnectFailure::Failed(
            "servers of this type are not supported".to_owned(),
        )),
    }
}

/// Does something, unless it is no longer wanted.
pub(super) async fn unless<T>(
    give_up: &CancellationToken,
    doing: impl Future<Output = Result<T, ConnectFailure>>,
) -> Result<T, ConnectFailure> {
    tokio::select! {
        biased;
        () = give_up.cancelled() => Err(ConnectFailure::Failed("it was given up".to_owned())),
        done = doing => done,
    }
}

fn http(
    url: &str,
    own_headers: Option<&BTreeMap<String, String>>,
    wiring: &Wiring,
) -> Result<StreamableHttpClientTransport<Bounded>, ConnectFailure> {
    let web = web_client(&wiring.environment).map_err(no_client)?;
    if reqwest::Url::parse(url).is_err() {
        return Err(ConnectFailure::Failed(
            "its address is not a URL".to_owned(),
        ));
    }
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.max_sse_event_size = LONGEST_MESSAGE;
    let headers = headers(own_headers)?;
    let named = |(name, value): (Option<HeaderName>, HeaderValue)| Some((name?, value));
    config.custom_headers = headers
        .into_iter()
        .filter_map(named)
        .collect::<HashMap<_, _>>();
    Ok(StreamableHttpClientTransport::with_client(
        Bounded::new(web),
        config,
    ))
}

async fn serve<T>(
    client: Client,
    transport: T,
    incoming: Option<mpsc::Sender<ServerJsonRpcMessage>>,
    era: Era,
) -> Result<Arc<Connection>, ConnectFailure>
where
    T: Transport<RoleClient> + 'static,
{
    let lifecycle = match era {
        Era::Handshake => ClientLifecycleMode::Initialize,
        Era::Stateless => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::LATEST],
        },
    };
    let ended = CancellationToken::new();
    let transport = Watched::new(transport, ended.clone());
    let serving = serve_client_with_lifecycle(client, transport, lifecycle);
    let running = Box::pin(serving)
        .await
        .map_err(|error| failure(&error, era))?;
    Ok(Arc::new(Connection {
        running,
        ended,
        incoming,
    }))
}

fn failure(error: &ClientInitializeError, era: Era) -> ConnectFailure {
    let text = match error {
        ClientInitializeError::JsonRpcError(error) => {
            format!("the server refused the connection: {}", error.message)
        }
        ClientInitializeError::ConnectionClosed(_) => {
            "the server closed the connection before it was ready".to_owned()
        }
        ClientInitializeError::TransportError { error, .. } => {
            format!("cannot talk to the server: {}", chain(error.error.as_ref()))
        }
        _ => "the server's first answer makes no sense".to_owned(),
    };
    if error.is_authorization_required() || text.contains("HTTP 401") {
        return ConnectFailure::NeedsAuth;
    }
    match (error, era) {
        (ClientInitializeError::JsonRpcError(_), Era::Handshake) => ConnectFailure::Stateless(text),
        _ => ConnectFailure::Failed(text),
    }
}

/// The texts of an error and its causes; a server's page of HTML is cut.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text.chars().take(500).collect()
}

fn headers(headers: Option<&BTreeMap<String, String>>) -> Result<HeaderMap, ConnectFailure> {
    let mut map = HeaderMap::new();
    for (name, value) in headers.into_iter().flatten() {
        // The value may be a secret: the text must not show it.
        let bad = || ConnectFailure::Failed(format!("its header `{name}` is not valid"));
        let key = HeaderName::try_from(name).map_err(|_| bad())?;
        map.insert(key, HeaderValue::try_from(value).map_err(|_| bad())?);
    }
    Ok(map)
}

fn no_client(error: reqwest::Error) -> ConnectFailure {
    ConnectFailure::Failed(format!(
        "cannot make an HTTP client: {}",
        error.without_url()
    ))
}
