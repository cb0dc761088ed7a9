//! MCP servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use falconer_protocol::Object;
use falconer_protocol::content::ContentBlock;
use falconer_protocol::control::{McpReadResourceResponse, McpStatusResponse};
use falconer_protocol::mcp::McpServerConfig;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Outcome, text};
use crate::frame::reply::Reply;
use crate::mcp::{ServerError, Switch};
use crate::session::core::Core;

pub(super) fn status(core: &Core) -> Reply {
    let response = McpStatusResponse {
        mcp_servers: core.servers.status(),
        ..McpStatusResponse::default()
    };
    Reply::success(&response.with_empty("mcpServers"))
}

pub(super) fn set_servers(core: &Arc<Core>, body: &Value) -> Outcome {
    let servers = body["servers"].clone();
    let servers: BTreeMap<String, McpServerConfig> = match falconer_protocol::from_value(servers) {
        Ok(servers) => servers,
        Err(error) => return Reply::failure(format!("servers cannot be read: {error}")).into(),
    };
    let core = Arc::clone(core);
    Outcome::Later(Box::pin(async move {
        let response = core.servers.set_servers(&servers).await;
        // Hosts read all three, whether there is anything in them or not.
        Reply::success(
            &response
                .with_empty("added")
                .with_empty("removed")
                .with_empty("errors"),
        )
    }))
}

pub(super) fn reconnect(core: &Arc<Core>, body: &Value) -> Outcome {
    let name = match text(body, "serverName") {
        Ok(name) => name.to_owned(),
        Err(reply) => return reply.into(),
    };
    let core = Arc::clone(core);
    Outcome::Later(Box::pin(async move {
        done(core.servers.reconnect(&name).await)
    }))
}

pub(super) fn toggle(core: &Arc<Core>, body: &Value) -> Outcome {
    let name = match text(body, "serverName") {
        Ok(name) => name.to_owned(),
        Err(reply) => return reply.into(),
    };
    let switch = match body["enabled"] {
        Value::Bool(false) => Switch::Off,
        _ => Switch::On,
    };
    let core = Arc::clone(core);
    Outcome::Later(Box::pin(async move {
        done(core.servers.toggle(&name, switch).await)
    }))
}

/// Something a server in the host says by itself.
pub(super) fn message(core: &Core, body: &Value) -> Reply {
    let name = match text(body, "server_name") {
        Ok(name) => name,
        Err(reply) => return reply,
    };
    // As for a message that comes too late, there is nobody to be told.
    if let Err(error) = core.servers.incoming(name, body["message"].clone()) {
        tracing::debug!(%error, "a message of a server was dropped");
    }
    Reply::Done
}

/// What a tool returned.
#[derive(Debug, Serialize)]
struct Called {
    content: [ContentBlock; 1],
}

pub(super) fn call(core: &Arc<Core>, body: &Value) -> Outcome {
    let tool = match text(body, "tool") {
        Ok(tool) => tool.to_owned(),
        Err(reply) => return reply.into(),
    };
    let arguments: Object = body["arguments"].as_object().cloned().unwrap_or_default();
    let core = Arc::clone(core);
    Outcome::Later(Box::pin(async move {
        let token = CancellationToken::new();
        match core.servers.call(&tool, arguments, None, &token).await {
            Ok(text) => Reply::success(&Called {
                content: [ContentBlock::text(text)],
            }),
            Err(failure) => Reply::failure(failure.to_string()),
        }
    }))
}

pub(super) fn read_resource(core: &Arc<Core>, body: &Value) -> Outcome {
    let (server, uri) = match (text(body, "serverName"), text(body, "uri")) {
        (Ok(server), Ok(uri)) => (server.to_owned(), uri.to_owned()),
        (Err(reply), _) | (_, Err(reply)) => return reply.into(),
    };
    if !uri.starts_with("ui://") {
        return Reply::failure("only resources with a ui:// address are read for a host").into();
    }
    let core = Arc::clone(core);
    Outcome::Later(Box::pin(async move {
        let token = CancellationToken::new();
        match core.servers.read_resource(&server, &uri, &token).await {
            Ok(contents) => {
                let contents = contents.iter().map(serde_json::to_value);
                let response = McpReadResourceResponse {
                    contents: contents.filter_map(Result::ok).collect(),
                    ..McpReadResourceResponse::default()
                };
                Reply::success(&response.with_empty("contents"))
            }
            Err(failure) => Reply::failure(failure.to_string()),
        }
    }))
}

fn done(result: Result<(), ServerError>) -> Reply {
    match result {
        Ok(()) => Reply::Done,
        Err(error) => Reply::failure(error.to_string()),
    }
}
