//! A server to connect to, and everything a tool needs to run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use falconer_protocol::Object;
use falconer_protocol::mcp::{McpServerConfig, McpStdioConfig};
use falconer_secret::Environment;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::host::Host;
use crate::host::lane::HostLane;
use crate::mcp::outcome::Overflow;
use crate::mcp::resource::{ListResources, ReadResource};
use crate::mcp::tool::McpTool;
use crate::mcp::{Declared, Elicitation, Origin, Servers, Wiring};
use crate::tool::{Outcome, TypedTool as _};

pub(super) struct Scene {
    pub(super) wiring: Wiring,
    pub(super) lane: HostLane,
    pub(super) directory: tempfile::TempDir,
}

pub(super) fn scene(variables: &[(&str, &str)]) -> Scene {
    let (host, _outbox, lane) = Host::pair();
    let directory = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = variables
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let all = [(OsString::from("PATH"), path)].into_iter().chain(own);
    let environment = Arc::new(Environment::new(all));
    let wiring = Wiring {
        host,
        environment,
        cwd: directory.path().to_owned(),
        elicitation: Elicitation::AskHost,
        listener: None,
        version: "0".to_owned(),
        seals: Vec::new(),
    };
    Scene {
        wiring,
        lane,
        directory,
    }
}

impl Scene {
    pub(super) fn connect(&self, name: &str, config: impl Into<McpServerConfig>) -> Servers {
        let declared = declared(name, config.into());
        Servers::connect(vec![declared], self.wiring.clone())
    }

    /// A call of one tool, which must exist.
    pub(super) async fn call(&self, servers: &Servers, tool: &str, input: Value) -> Outcome {
        let never = CancellationToken::new();
        let done = tokio::time::timeout(
            Duration::from_secs(60),
            self.start(servers, tool, input, never),
        );
        done.await.expect("a call ends in time").unwrap()
    }

    /// The same in a task of its own.
    pub(super) fn start(
        &self,
        servers: &Servers,
        tool: &str,
        input: Value,
        cancelled: CancellationToken,
    ) -> JoinHandle<Outcome> {
        let (servers, tool, input) = (servers.clone(), tool.to_owned(), object(input));
        let directory = self.directory.path().join("overflow");
        let environment = Arc::clone(&self.wiring.environment);
        tokio::spawn(async move {
            let overflow = Overflow::new(&directory, &tool, &environment);
            match tool.as_str() {
                "ListMcpResourcesTool" => {
                    let tool = ListResources::new(servers);
                    let server = tool.parse(&input).unwrap();
                    tool.perform(server.as_deref(), &cancelled, &overflow).await
                }
                "ReadMcpResourceTool" => {
                    let tool = ReadResource::new(servers);
                    let named = tool.parse(&input).unwrap();
                    tool.perform(&named, &cancelled, &overflow).await
                }
                name => {
                    let tool = tool_named(&servers, name);
                    drop(servers);
                    let id = "toolu_1".into();
                    tool.perform(input, &id, &cancelled, &overflow).await
                }
            }
        })
    }
}

pub(super) fn declared(name: &str, config: McpServerConfig) -> Declared {
    Declared {
        name: name.to_owned(),
        config,
        origin: Origin::Flag,
        manifest: None,
    }
}

pub(super) fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is not an object"),
    }
}

pub(super) fn tool_named(servers: &Servers, name: &str) -> McpTool {
    let found = servers.find(name);
    found.unwrap_or_else(|| panic!("no tool {name} in {:?}", names(servers)))
}

pub(super) fn names(servers: &Servers) -> Vec<String> {
    let tools = servers.tools();
    tools.iter().map(|tool| tool.name().to_owned()).collect()
}

/// A child that runs a program of this test suite in Python.
pub(super) fn python(program: &str) -> McpStdioConfig {
    McpStdioConfig {
        args: Some(vec![
            "-u".to_owned(),
            "-c".to_owned(),
            format!("{PRELUDE}{program}"),
        ]),
        env: Some(BTreeMap::from([(
            "OWN".to_owned(),
            "${SHARED:-none}".to_owned(),
        )])),
        ..McpStdioConfig::new("python3")
    }
}

/// A server of the handshake era in a few lines; `tools` and `call` are the program's.
const PRELUDE: &str = r#"
import sys, json, os
def send(value):
    sys.stdout.write(json.dumps(value) + "\n"); sys.stdout.flush()
def note(method):
    send({"jsonrpc": "2.0", "method": method})
def reply(request, result):
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})
def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}
def tool(name, **more):
    return {"name": name, "description": "does " + name, "inputSchema": {"type": "object"}, **more}
def messages():
    for line in sys.stdin:
        yield json.loads(line)
def shake(request, **capabilities):
    reply(request, {"protocolVersion": "2025-11-25", "serverInfo": {"name": "py", "version": "1"},
        "capabilities": {"tools": {"listChanged": True}, **capabilities}})
def serve(tools, call):
    for request in messages():
        method = request.get("method")
        if method == "initialize": shake(request)
        elif method == "tools/list": reply(request, {"tools": tools})
        elif method == "tools/call": call(request)
"#;

pub(super) async fn wait_for(mut ready: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    while !ready() {
        assert!(tokio::time::Instant::now() < deadline, "waited in vain");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process exists; one that is dead but not collected does not.
pub(super) fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}
