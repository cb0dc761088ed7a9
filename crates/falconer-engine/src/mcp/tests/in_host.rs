//! Servers inside the host, message by message as the CLI sends them.

use falconer_protocol::RequestId;
use falconer_protocol::control::EngineRequest;
use falconer_protocol::mcp::{McpConnection, McpSdkConfig, McpServerConfig};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::fixture::{Scene, names, scene, wait_for};
use crate::mcp::{ServerError, Servers};

async fn message(scene: &mut Scene) -> (RequestId, Value) {
    let (id, question) = scene.lane.question().await;
    let EngineRequest::McpMessage(message) = question else {
        panic!("unexpected question {question:?}");
    };
    assert_eq!(message.server_name, "calc");
    (id, message.message)
}

fn reply(scene: &Scene, id: &RequestId, message: &Value, result: &Value) {
    let response = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    scene.lane.answer(id, &json!({ "mcp_response": response }));
}

/// Plays the handshake up to the list of tools.
async fn connected(scene: &mut Scene) -> Servers {
    let config = McpServerConfig::Sdk(McpSdkConfig::new("calc"));
    let servers = scene.connect("calc", config);
    let (id, initialize) = message(scene).await;
    assert_eq!(initialize["method"], "initialize");
    assert_eq!(initialize["id"], 0);
    assert_eq!(initialize["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(initialize["params"]["capabilities"], json!({}));
    assert_eq!(initialize["params"]["clientInfo"]["name"], "claude-code");
    reply(
        scene,
        &id,
        &initialize,
        &json!({"protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}}, "serverInfo": {"name": "calc", "version": "1.0.0"}}),
    );
    let (id, initialized) = message(scene).await;
    assert_eq!(
        initialized,
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
    );
    scene.lane.answer(
        &id,
        &json!({"mcp_response": {"jsonrpc": "2.0", "result": {}, "id": 0}}),
    );
    list(
        scene,
        json!([{"name": "add", "description": "adds", "inputSchema": {"type": "object"}}]),
        1,
    )
    .await;
    servers.settled().await;
    servers
}

async fn list(scene: &mut Scene, tools: Value, number: u64) {
    let (id, list) = message(scene).await;
    assert_eq!(
        list,
        json!({"jsonrpc": "2.0", "id": number, "method": "tools/list"})
    );
    reply(scene, &id, &list, &json!({ "tools": tools }));
}

#[tokio::test]
async fn the_handshake_and_calls_look_as_recorded() {
    let mut scene = scene(&[]);
    let servers = connected(&mut scene).await;
    let status = serde_json::to_value(&servers.status()[0]).unwrap();
    assert_eq!(
        status,
        json!({"name": "calc", "status": "connected",
            "serverInfo": {"name": "calc", "version": "1.0.0"}, "transport": "sdk",
            "scope": "dynamic", "source": "sdk", "tools": [{"name": "add", "annotations": {}}]})
    );
    let never = CancellationToken::new();
    let calling = scene.start(&servers, "mcp__calc__add", json!({"a": 2, "b": 3}), never);
    let (id, call) = message(&mut scene).await;
    let params = json!({"name": "add", "arguments": {"a": 2, "b": 3},
        "_meta": {"claudecode/toolUseId": "toolu_1", "progressToken": 2}});
    assert_eq!(
        call,
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
    );
    reply(
        &scene,
        &id,
        &call,
        &json!({"content": [{"type": "text", "text": "5"}]}),
    );
    let outcome = calling.await.unwrap();
    assert_eq!(outcome.shown(), json!([{"type": "text", "text": "5"}]));
    servers.close().await;
}

#[tokio::test]
async fn an_error_of_the_host_is_the_result_of_the_call() {
    let mut scene = scene(&[]);
    let servers = connected(&mut scene).await;
    let never = CancellationToken::new();
    let calling = scene.start(&servers, "mcp__calc__add", json!({}), never);
    let (id, _) = message(&mut scene).await;
    scene.lane.refuse(&id, "server process gone");
    let outcome = calling.await.unwrap();
    assert!(outcome.is_error);
    assert_eq!(outcome.said(), "server process gone");
    assert_eq!(outcome.output, Some(json!("Error: server process gone")));
    servers.close().await;
}

#[tokio::test]
async fn an_interrupted_call_is_told_to_the_server() {
    let mut scene = scene(&[]);
    let servers = connected(&mut scene).await;
    let cancelled = CancellationToken::new();
    let calling = scene.start(&servers, "mcp__calc__add", json!({}), cancelled.clone());
    let (_, call) = message(&mut scene).await;
    cancelled.cancel();
    assert!(calling.await.unwrap().is_error);
    let (id, notice) = message(&mut scene).await;
    assert_eq!(notice["method"], "notifications/cancelled");
    assert_eq!(notice["params"]["requestId"], call["id"]);
    scene.lane.answer(&id, &json!({}));
    servers.close().await;
}

#[tokio::test]
async fn a_notification_of_the_host_makes_us_ask_again() {
    let mut scene = scene(&[]);
    let servers = connected(&mut scene).await;
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    servers.incoming("calc", changed.clone()).unwrap();
    list(
        &mut scene,
        json!([{"name": "sub", "inputSchema": {"type": "object"}}]),
        2,
    )
    .await;
    wait_for(|| names(&servers) == ["mcp__calc__sub"]).await;
    let nobody = servers.incoming("nobody", changed);
    assert_eq!(nobody, Err(ServerError::NotFound("nobody".to_owned())));
    let odd = servers.incoming("calc", json!({"x": 1}));
    assert_eq!(odd, Err(ServerError::Malformed("calc".to_owned())));
    servers.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_fails_after_mcp_timeout() {
    let mut scene = scene(&[("MCP_TIMEOUT", "3000")]);
    let config = McpServerConfig::Sdk(McpSdkConfig::new("calc"));
    let servers = scene.connect("calc", config);
    message(&mut scene).await;
    let started = tokio::time::Instant::now();
    servers.settled().await;
    assert!(started.elapsed() <= std::time::Duration::from_secs(4));
    let status = &servers.status()[0];
    assert_eq!(status.status, McpConnection::Failed);
    assert!(
        status.error.as_deref().unwrap().contains("3000 ms"),
        "{status:?}"
    );
}

#[tokio::test]
async fn a_host_that_leaves_fails_its_servers_and_calls() {
    let mut scene = scene(&[]);
    let servers = connected(&mut scene).await;
    let never = CancellationToken::new();
    let calling = scene.start(&servers, "mcp__calc__add", json!({}), never);
    message(&mut scene).await;
    scene.lane.host.close();
    let outcome = calling.await.unwrap();
    assert!(outcome.is_error, "{outcome:?}");
    servers.close().await;
}
