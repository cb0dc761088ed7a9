//! Servers behind HTTP, of both generations and both eras.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use falconer_protocol::mcp::{McpConnection, McpHttpConfig, McpServerConfig, McpSseConfig};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::fixture::{names, scene};

async fn serve(app: Router) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (format!("http://{address}"), serving)
}

fn with_token() -> BTreeMap<String, String> {
    BTreeMap::from([("Authorization".to_owned(), "Bearer ${TOKEN}".to_owned())])
}

fn result_of(request: &Value) -> Option<Value> {
    let result = match request["method"].as_str()? {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "remote", "version": "2"}}),
        "tools/list" => json!({"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "hi"}]}),
        _ => return None,
    };
    Some(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
}

async fn handshake(headers: HeaderMap, body: String) -> Response {
    if headers
        .get("authorization")
        .is_none_or(|it| it != "Bearer t0ken")
    {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let request: Value = serde_json::from_str(&body).unwrap();
    match result_of(&request) {
        Some(result) => axum::Json(result).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

#[tokio::test]
async fn a_streamable_server_gets_its_headers_and_works() {
    let (url, serving) = serve(Router::new().route("/mcp", post(handshake))).await;
    let scene = scene(&[("TOKEN", "t0ken")]);
    let config = McpHttpConfig {
        headers: Some(with_token()),
        ..McpHttpConfig::new(format!("{url}/mcp?key=secret"))
    };
    let servers = scene.connect("web", McpServerConfig::Http(config));
    servers.settled().await;
    assert_eq!(
        names(&servers),
        ["mcp__web__hello"],
        "{:?}",
        servers.status()
    );
    let hi = scene.call(&servers, "mcp__web__hello", json!({})).await;
    assert_eq!(hi.shown()[0]["text"], "hi");
    let status = serde_json::to_value(&servers.status()[0]).unwrap();
    assert_eq!(
        status["config"],
        json!({"type": "http", "url": format!("{url}/mcp")})
    );
    servers.close().await;
    serving.abort();
}

#[tokio::test]
async fn a_server_that_wants_a_login_is_reported_so() {
    let sse = Router::new().route("/sse", get(|| async { StatusCode::UNAUTHORIZED }));
    let (url, serving) = serve(sse.route("/mcp", post(handshake))).await;
    let scene = scene(&[]);
    let configs = [
        McpServerConfig::Http(McpHttpConfig::new(format!("{url}/mcp"))),
        McpServerConfig::Sse(McpSseConfig::new(format!("{url}/sse"))),
    ];
    for config in configs {
        let servers = scene.connect("web", config);
        servers.settled().await;
        assert_eq!(servers.status()[0].status, McpConnection::NeedsAuth);
        servers.close().await;
    }
    serving.abort();
}

#[tokio::test]
async fn a_server_that_is_not_there_fails_with_a_reason() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let scene = scene(&[]);
    for config in [
        McpServerConfig::Http(McpHttpConfig::new(&url)),
        McpServerConfig::Sse(McpSseConfig::new(&url)),
        McpServerConfig::Http(McpHttpConfig::new("not a url")),
        McpServerConfig::Sse(McpSseConfig::new("not a url")),
    ] {
        let servers = scene.connect("web", config);
        servers.settled().await;
        let status = &servers.status()[0];
        assert_eq!(status.status, McpConnection::Failed);
        assert!(status.error.as_ref().is_some_and(|it| !it.is_empty()));
        servers.close().await;
    }
}

/// The first generation: one stream to the client, one address for its messages.
#[derive(Clone, Default)]
struct Streams {
    open: Arc<Mutex<Option<mpsc::Sender<String>>>>,
    endpoint: &'static str,
}

async fn stream(State(streams): State<Streams>) -> Response {
    let (sender, mut events) = mpsc::channel::<String>(16);
    let first = format!("event: endpoint\ndata: {}\n\n", streams.endpoint);
    sender.send(first).await.unwrap();
    *streams.open.lock().unwrap() = Some(sender);
    let events = async_events(move |context| events.poll_recv(context));
    let body = Body::from_stream(events.map(Ok::<_, std::convert::Infallible>));
    ([("content-type", "text/event-stream")], body).into_response()
}

fn async_events(
    poll: impl FnMut(&mut std::task::Context<'_>) -> std::task::Poll<Option<String>> + Send,
) -> impl futures_util::Stream<Item = String> + Send {
    let mut poll = poll;
    futures_util::stream::poll_fn(move |context| poll(context))
}

async fn take(State(streams): State<Streams>, body: String) -> StatusCode {
    let request: Value = serde_json::from_str(&body).unwrap();
    let stream = streams.open.lock().unwrap().clone().unwrap();
    if let Some(result) = result_of(&request) {
        stream
            .send(format!("event: message\ndata: {result}\n\n"))
            .await
            .unwrap();
    }
    StatusCode::ACCEPTED
}

fn first_generation(endpoint: &'static str) -> (Router, Streams) {
    let streams = Streams {
        endpoint,
        ..Streams::default()
    };
    let app = Router::new()
        .route("/sse", get(stream))
        .route("/messages", post(take));
    (app.with_state(streams.clone()), streams)
}

#[tokio::test]
async fn a_server_of_the_first_generation_works_and_its_end_is_seen() {
    let (app, streams) = first_generation("/messages?session=1");
    let (url, serving) = serve(app).await;
    let scene = scene(&[]);
    let config = McpServerConfig::Sse(McpSseConfig::new(format!("{url}/sse")));
    let servers = scene.connect("old", config);
    servers.settled().await;
    assert_eq!(
        names(&servers),
        ["mcp__old__hello"],
        "{:?}",
        servers.status()
    );
    let hi = scene.call(&servers, "mcp__old__hello", json!({})).await;
    assert_eq!(hi.shown()[0]["text"], "hi");
    *streams.open.lock().unwrap() = None;
    super::fixture::wait_for(|| servers.status()[0].status == McpConnection::Failed).await;
    servers.close().await;
    serving.abort();
}

#[tokio::test]
async fn messages_are_not_sent_to_another_host() {
    let (app, _streams) = first_generation("http://elsewhere.invalid/messages");
    let (url, serving) = serve(app).await;
    let scene = scene(&[]);
    let config = McpServerConfig::Sse(McpSseConfig::new(format!("{url}/sse")));
    let servers = scene.connect("old", config);
    servers.settled().await;
    let error = servers.status()[0].error.clone().unwrap_or_default();
    assert!(error.contains("another host"), "{error}");
    servers.close().await;
    serving.abort();
}

/// A server of the stateless era: it does not know `initialize`.
async fn stateless(body: String) -> Response {
    let request: Value = serde_json::from_str(&body).unwrap();
    let id = &request["id"];
    let method = request["method"].as_str().unwrap_or_default();
    let result = match method {
        "server/discover" => json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "new", "version": "3"}}),
        "tools/list" => json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "tools": [{"name": "hello", "inputSchema": {"type": "object"}}]}),
        "tools/call" => {
            let era = &request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
            json!({"resultType": "complete", "content": [{"type": "text", "text": era}]})
        }
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            return axum::Json(json!({"jsonrpc": "2.0", "id": id, "error": error})).into_response();
        }
    };
    axum::Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response()
}

#[tokio::test]
async fn a_server_without_handshake_works_too() {
    let (url, serving) = serve(Router::new().route("/mcp", post(stateless))).await;
    let scene = scene(&[]);
    let config = McpServerConfig::Http(McpHttpConfig::new(format!("{url}/mcp")));
    let servers = scene.connect("new", config);
    servers.settled().await;
    assert_eq!(
        names(&servers),
        ["mcp__new__hello"],
        "{:?}",
        servers.status()
    );
    let hi = scene.call(&servers, "mcp__new__hello", json!({})).await;
    assert_eq!(hi.shown()[0]["text"], "2026-07-28");
    servers.close().await;
    serving.abort();
}

/// Says hello, and then talks without end.
async fn endless(body: String) -> Response {
    let request: Value = serde_json::from_str(&body).unwrap();
    match request["method"].as_str().unwrap_or_default() {
        "tools/call" => {
            let events = request["params"]["arguments"]["events"] == true;
            let kind = if events {
                "text/event-stream"
            } else {
                "application/json"
            };
            let start = if events { "data: \"" } else { "\"" };
            let first = futures_util::stream::iter([start.to_owned()]);
            let more = futures_util::stream::repeat("x".repeat(1024 * 1024));
            let body = first.chain(more).map(Ok::<_, std::convert::Infallible>);
            ([("content-type", kind)], Body::from_stream(body)).into_response()
        }
        _ => match result_of(&request) {
            Some(result) => axum::Json(result).into_response(),
            None => StatusCode::ACCEPTED.into_response(),
        },
    }
}

#[tokio::test]
async fn answers_without_end_are_given_up() {
    let (url, serving) = serve(Router::new().route("/mcp", post(endless))).await;
    let scene = scene(&[("MCP_TOOL_TIMEOUT", "30000")]);
    let config = McpServerConfig::Http(McpHttpConfig::new(format!("{url}/mcp")));
    let servers = scene.connect("web", config);
    servers.settled().await;
    for events in [false, true] {
        let input = json!({ "events": events });
        let outcome = scene.call(&servers, "mcp__web__hello", input).await;
        assert!(outcome.is_error, "{outcome:?}");
        let told = outcome.said();
        assert!(!told.contains("did not answer within"), "{told}");
    }
    servers.close().await;
    serving.abort();
}

/// A server that is rmcp's own, with sessions and event streams.
#[derive(Debug, Clone)]
struct Official;

impl rmcp::ServerHandler for Official {
    fn get_info(&self) -> rmcp::model::ServerConfig {
        let capabilities = rmcp::model::ServerCapabilities::builder()
            .enable_tools()
            .build();
        rmcp::model::ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _request: Option<rmcp::model::PaginatedRequestParams>,
        _context: rmcp::service::RequestContext<rmcp::RoleServer>,
    ) -> Result<rmcp::model::ListToolsResult, rmcp::ErrorData> {
        let tools = json!({"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]});
        Ok(serde_json::from_value(tools).unwrap())
    }

    async fn call_tool(
        &self,
        _request: rmcp::model::CallToolRequestParams,
        _context: rmcp::service::RequestContext<rmcp::RoleServer>,
    ) -> Result<rmcp::model::CallToolResponse, rmcp::ErrorData> {
        let hi = rmcp::model::ContentBlock::text("hi");
        Ok(rmcp::model::CallToolResult::success(vec![hi]).into())
    }
}

#[tokio::test]
async fn the_official_server_works_with_sessions_and_streams() {
    use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
    use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
    let service = StreamableHttpService::new(
        || Ok(Official),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let (url, serving) = serve(Router::new().route_service("/mcp", service)).await;
    let scene = scene(&[]);
    let config = McpServerConfig::Http(McpHttpConfig::new(format!("{url}/mcp")));
    let servers = scene.connect("web", config);
    servers.settled().await;
    assert_eq!(
        names(&servers),
        ["mcp__web__hello"],
        "{:?}",
        servers.status()
    );
    for _ in 0..3 {
        let hi = scene.call(&servers, "mcp__web__hello", json!({})).await;
        assert_eq!(hi.shown()[0]["text"], "hi");
    }
    servers.close().await;
    serving.abort();
}
