//! An MCP server inside this process: a named set of tools.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use falconer_protocol::control::SdkMcpServerManifest;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::rpc::{self, INVALID_PARAMS, METHOD_NOT_FOUND};
use super::{RawCall, Tool, ToolOutput};

/// An MCP server that runs in this process and is reached through the engine's connection.
///
/// [`ToolServer`] is the usual one; with the feature `rmcp` any `rmcp` server can be
/// mounted.
pub trait MountedServer: Send + Sync + 'static {
    /// The name under which the engine knows it.
    fn name(&self) -> &str;

    /// Returns its answers to `initialize` and `tools/list`, if they are known beforehand; saves
    /// the engine three round trips.
    fn manifest(&self) -> Option<SdkMcpServerManifest> {
        None
    }

    /// Serves one JSON-RPC message; `None` for a notification.
    fn handle(self: Arc<Self>, message: Value) -> BoxFuture<'static, Option<Value>>;
}

/// A named set of [`Tool`]s.
#[derive(Debug, Clone)]
pub struct ToolServer {
    name: String,
    version: String,
    instructions: Option<String>,
    tools: Vec<Tool>,
    calls: Arc<Calls>,
}

/// The calls that run, by their JSON-RPC id, so that they can be cancelled.
type Calls = Mutex<HashMap<String, CancellationToken>>;

impl ToolServer {
    /// A server without tools.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            tools: Vec::new(),
            calls: Arc::default(),
        }
    }

    /// Adds a tool. A tool of the same name is replaced.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.retain(|other| other.name != tool.name);
        self.tools.push(tool);
        self
    }

    /// Text that tells the model what this server is for.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// The version the server reports.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// The names by which the model calls the tools, for permission rules.
    pub fn tool_names(&self) -> Vec<String> {
        self.tools
            .iter()
            .map(|tool| format!("mcp__{}__{}", self.name, tool.name))
            .collect()
    }

    fn initialize(&self, params: Option<&Value>) -> Value {
        let asked = params.and_then(|params| params["protocolVersion"].as_str());
        let mut result = json!({
            "protocolVersion": rpc::negotiate(asked),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": self.name, "version": self.version },
        });
        if let Some(instructions) = &self.instructions {
            result["instructions"] = instructions.as_str().into();
        }
        result
    }

    fn list(&self) -> Value {
        json!({ "tools": self.tools.iter().map(Tool::listing).collect::<Vec<_>>() })
    }

    /// Runs a call to its end: result, error, panic, timeout or cancellation.
    async fn call(&self, id: &Value, params: &mut Value) -> Result<Value, String> {
        let name = params["name"].as_str().unwrap_or_default();
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else {
            return Err(format!("server `{}` has no tool `{name}`", self.name));
        };
        let running = Running::register(&self.calls, id);
        let call = RawCall {
            tool_use_id: params["_meta"]["claudecode/toolUseId"]
                .as_str()
                .map(str::to_owned),
            arguments: match params["arguments"].take() {
                Value::Null => json!({}),
                arguments => arguments,
            },
            cancelled: running.token.clone(),
        };
        let span = tracing::info_span!("mcp_call", server = self.name, tool = tool.name);
        Ok(run_limited(tool, call, &running.token)
            .instrument(span)
            .await
            .into_wire())
    }

    fn cancel(&self, params: Option<&Value>) {
        let Some(id) = params.and_then(|params| params.get("requestId")) else {
            return;
        };
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = calls.get(&id.to_string()) {
            token.cancel();
        }
    }
}

/// A registered call; dropping it forgets it.
struct Running<'a> {
    calls: &'a Calls,
    id: String,
    token: CancellationToken,
}

impl<'a> Running<'a> {
    fn register(calls: &'a Calls, id: &Value) -> Self {
        let (id, token) = (id.to_string(), CancellationToken::new());
        let mut running = calls.lock().unwrap_or_else(PoisonError::into_inner);
        running.insert(id.clone(), token.clone());
        drop(running);
        Self { calls, id, token }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.token.cancel();
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.id);
    }
}

/// Runs a tool under its limit; whatever happens becomes an output the model can read.
async fn run_limited(tool: &Tool, call: RawCall, cancelled: &CancellationToken) -> ToolOutput {
    let name = &tool.name;
    let work = AssertUnwindSafe(async { (tool.run)(call).await }).catch_unwind();
    tokio::select! {
        biased;
        done = work => done.unwrap_or_else(|_| ToolOutput::error(format!("tool `{name}` panicked"))),
        () = cancelled.cancelled() => ToolOutput::error(format!("tool `{name}` was cancelled")),
        () = tokio::time::sleep(tool.timeout) => {
            let limit = tool.timeout;
            ToolOutput::error(format!("tool `{name}` did not finish within {limit:?}"))
        }
    }
}

impl MountedServer for ToolServer {
    fn name(&self) -> &str {
        &self.name
    }

    fn manifest(&self) -> Option<SdkMcpServerManifest> {
        let object = |value: Value| value.as_object().cloned();
        Some(SdkMcpServerManifest {
            initialize_result: object(self.initialize(None))?,
            tools_list_result: object(self.list()),
            ..SdkMcpServerManifest::default()
        })
    }

    fn handle(self: Arc<Self>, mut message: Value) -> BoxFuture<'static, Option<Value>> {
        Box::pin(async move {
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            let Some(id) = message.get("id").cloned() else {
                if method == "notifications/cancelled" {
                    self.cancel(message.get("params"));
                }
                return None;
            };
            Some(match method.as_str() {
                "initialize" => rpc::success(&id, &self.initialize(message.get("params"))),
                "ping" => rpc::success(&id, &json!({})),
                "tools/list" => rpc::success(&id, &self.list()),
                "tools/call" => match self.call(&id, &mut message["params"]).await {
                    Ok(result) => rpc::success(&id, &result),
                    Err(text) => rpc::error(&id, INVALID_PARAMS, &text),
                },
                _ => rpc::error(
                    &id,
                    METHOD_NOT_FOUND,
                    &format!("method `{method}` not found"),
                ),
            })
        })
    }
}

#[cfg(test)]
mod tests;
