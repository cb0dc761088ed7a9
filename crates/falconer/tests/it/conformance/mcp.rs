//! MCP servers: in this process, as children of the CLI, out of reach.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use falconer::protocol::control::SdkMcpServerManifest;
use falconer::protocol::mcp::{
    McpConnection, McpHttpConfig, McpServerConfig, McpServerStatus, McpSseConfig, McpStdioConfig,
};
use falconer::{Client, Decision, Error, MountedServer, Tool, ToolCall, ToolOutput, ToolServer};
use falconer_testkit::scenario::{MessageReply, Scenario, message, text, tool_use};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{Barrier, watch};

use super::seen::{Asked, Seen};
use super::{Stage, next_result};
use crate::scripted::LIMIT;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

/// A server with one tool, `add`.
fn calc() -> ToolServer {
    let add = |Add { a, b }: Add| async move { format!("{a} + {b} = {}", a + b) };
    ToolServer::new("calc").tool(Tool::new("add", "Add two numbers", add).always_load())
}

fn add_call() -> MessageReply {
    tool_use("mcp__calc__add", json!({ "a": 2, "b": 40 }))
}

/// One call of a tool, then a last word.
fn one_call(call: MessageReply) -> Stage {
    Stage::new(Scenario::new().turn(call).turn(text("done")))
}

#[tokio::test]
async fn a_tool_of_ours_gets_typed_arguments_and_the_id_of_its_call() {
    let stage = one_call(add_call());
    let calls = Seen::default();
    let notes = calls.clone();
    let add = move |call: ToolCall<Add>| {
        notes.add((call.arguments.a, call.arguments.b, call.tool_use_id));
        std::future::ready((call.arguments.a + call.arguments.b).to_string())
    };
    let server = ToolServer::new("calc").tool(Tool::with_call("add", "Add", add));
    let options = stage
        .options()
        .allow_tools(server.tool_names())
        .tool_server(server);
    let outcome = stage.run("go", options).await;
    assert_eq!(outcome.text(), "done");
    assert_eq!(
        calls.all(),
        [(2, 40, Some("toolu_scripted_0001".to_owned()))]
    );
    let result = stage.result_in(2);
    assert_eq!((result.text.as_str(), result.is_error), ("42", false));
}

#[tokio::test]
async fn a_tool_of_ours_needs_permission_and_the_request_names_its_server() {
    let stage = one_call(add_call());
    let asked = Asked::default();
    let options = stage
        .options()
        .tool_server(calc())
        .on_permission(asked.answering(Decision::deny("no sums today")));
    stage.run("go", options).await;
    assert_eq!(asked.tools(), ["mcp__calc__add"]);
    assert_eq!(asked.all()[0].mcp_server.as_ref().unwrap().name, "calc");
    assert_eq!(stage.result_in(2).text, "no sums today");
}

/// A server whose tools fail in every way.
fn troubled() -> ToolServer {
    let fail = async |(): ()| Err::<String, _>("out of paper");
    let panics = |_: Add| -> std::future::Ready<String> { panic!("this tool is broken") };
    let hang = |(): ()| std::future::pending::<String>();
    let reads = async |Add { a, b }: Add| (a + b).to_string();
    ToolServer::new("calc")
        .tool(Tool::new("fail", "fails", fail).always_load())
        .tool(Tool::new("panics", "panics", panics).always_load())
        .tool(
            Tool::new("hang", "hangs", hang)
                .timeout(Duration::from_millis(20))
                .always_load(),
        )
        .tool(Tool::new("add", "adds", reads).always_load())
}

#[tokio::test]
async fn whatever_goes_wrong_in_a_tool_the_model_reads_it_and_the_run_goes_on() {
    let table = [
        ("fail", json!({}), "out of paper"),
        (
            "panics",
            json!({ "a": 1, "b": 1 }),
            "tool `panics` panicked",
        ),
        ("hang", json!({}), "tool `hang` did not finish within 20ms"),
        (
            "add",
            json!({ "a": "one", "b": 1 }),
            "invalid arguments for `add`",
        ),
    ];
    let mut scenario = Scenario::new();
    for (tool, arguments, _) in &table {
        scenario = scenario.turn(tool_use(format!("mcp__calc__{tool}"), arguments.clone()));
    }
    let stage = Stage::new(scenario.turn(text("done")));
    let options = stage
        .options()
        .allow_mcp_server("calc")
        .tool_server(troubled());
    let outcome = stage.run("go", options).await;
    assert_eq!(outcome.text(), "done");
    for (position, (tool, _, expect)) in table.iter().enumerate() {
        let result = stage.result_in(position + 2);
        assert!(
            result.is_error && result.text.contains(expect),
            "{tool}: {result:?}"
        );
    }
}

/// Equal calls at the same time: each answer goes to the call that it belongs to.
#[tokio::test]
async fn equal_calls_of_a_read_only_tool_run_in_parallel() {
    const CALLS: usize = 3;
    let call =
        |message: MessageReply, _| message.tool_use("mcp__calc__meet", json!({ "a": 1, "b": 0 }));
    let stage = one_call((0..CALLS).fold(message(), call));
    // Nobody passes before all have come.
    let barrier = Arc::new(Barrier::new(CALLS));
    let meet = move |call: ToolCall<Add>| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            call.tool_use_id.unwrap_or_default()
        }
    };
    let tool = Tool::with_call("meet", "meets", meet)
        .read_only()
        .timeout(LIMIT * 2);
    let server = ToolServer::new("calc").tool(tool);
    let options = stage.options().allow_mcp_server("calc").tool_server(server);
    stage.run("go", options).await;
    let results = stage.results_in(2);
    assert_eq!(results.len(), CALLS);
    for result in results {
        assert_eq!(result.text, result.tool_use_id);
    }
}

#[tokio::test]
async fn an_interrupt_cancels_the_tool_call() {
    let stage = one_call(tool_use("mcp__calc__hang", json!({})));
    let running = watch::Sender::new(None);
    let notes = running.clone();
    let hang = move |call: ToolCall<()>| {
        notes.send_replace(Some(call.cancelled.clone()));
        std::future::pending::<String>()
    };
    let server = ToolServer::new("calc").tool(Tool::with_call("hang", "hangs", hang));
    let options = stage.options().allow_mcp_server("calc").tool_server(server);
    let (client, mut messages) = stage.connect(options).await;
    client.send("go").await.unwrap();
    let mut running = running.subscribe();
    let started = tokio::time::timeout(LIMIT * 3, running.wait_for(Option::is_some)).await;
    let cancelled = started
        .expect("the tool is not called")
        .unwrap()
        .clone()
        .unwrap();
    client.interrupt().await.unwrap();
    assert!(next_result(&mut messages).await.is_error);
    let told = tokio::time::timeout(LIMIT, cancelled.cancelled()).await;
    assert!(told.is_ok(), "the call goes on");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_picture_and_a_text_of_a_tool_reach_the_model() {
    const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let stage = one_call(tool_use("mcp__calc__draw", json!({})));
    let draw = async |(): ()| {
        let caption = falconer::ToolContent::Text("a dot".to_owned());
        ToolOutput::image(PIXEL, "image/png").with(caption)
    };
    let server = ToolServer::new("calc").tool(Tool::new("draw", "draws", draw));
    let options = stage.options().allow_mcp_server("calc").tool_server(server);
    stage.run("go", options).await;
    let conversation = stage.conversation_in(2);
    assert!(
        conversation.contains(r#""media_type":"image/png""#),
        "{conversation}"
    );
    assert!(stage.result_in(2).text.contains("a dot"));
}

/// A server that notes which methods it is asked for and whose tools can be changed.
struct Noting {
    tools: Arc<Mutex<ToolServer>>,
    methods: watch::Sender<Vec<String>>,
    manifest: Option<SdkMcpServerManifest>,
}

impl MountedServer for Noting {
    fn name(&self) -> &str {
        "calc"
    }

    fn manifest(&self) -> Option<SdkMcpServerManifest> {
        self.manifest.clone()
    }

    fn handle(self: Arc<Self>, message: Value) -> BoxFuture<'static, Option<Value>> {
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        self.methods.send_modify(|methods| methods.push(method));
        let tools = self.tools.lock().unwrap().clone();
        Arc::new(tools).handle(message)
    }
}

#[tokio::test]
async fn a_manifest_saves_the_handshake() {
    let stage = one_call(add_call());
    let methods = watch::Sender::default();
    let server = Noting {
        tools: Arc::new(Mutex::new(calc())),
        methods: methods.clone(),
        manifest: calc().manifest(),
    };
    let options = stage.options().allow_mcp_server("calc").mount(server);
    let (client, mut messages) = stage.connect(options).await;
    let parked = client.hello().sdk_mcp_manifests_parked.clone().unwrap();
    assert_eq!(parked.get("calc").map(String::as_str), Some("parked"));
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    assert_eq!(*methods.borrow(), ["tools/call"]);
    assert_eq!(stage.result_in(2).text, "2 + 40 = 42");
    client.close().await.unwrap();
}

#[tokio::test]
async fn without_a_manifest_the_handshake_is_made_with_its_notification() {
    let stage = one_call(add_call());
    let methods = watch::Sender::default();
    let tools = Arc::new(Mutex::new(calc()));
    let server = Noting {
        tools,
        methods: methods.clone(),
        manifest: None,
    };
    let options = stage.options().allow_mcp_server("calc").mount(server);
    let (client, mut messages) = stage.connect(options).await;
    assert_eq!(client.hello().sdk_mcp_manifests_parked, None);
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    let handshake = [
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/call",
    ];
    assert_eq!(*methods.borrow(), handshake);
    assert_eq!(stage.result_in(2).text, "2 + 40 = 42");
    client.close().await.unwrap();
}

#[tokio::test]
async fn announced_tools_are_listed_again_and_offered_to_the_model() {
    for manifest in [None, calc().manifest()] {
        let stage = Stage::new(Scenario::new().turn(text("one")).turn(text("two")));
        let methods = watch::Sender::<Vec<String>>::default();
        let tools = Arc::new(Mutex::new(calc()));
        let server = Noting {
            tools: tools.clone(),
            methods: methods.clone(),
            manifest,
        };
        let options = stage.options().allow_mcp_server("calc").mount(server);
        let (client, mut messages) = stage.connect(options).await;
        client.send("go").await.unwrap();
        next_result(&mut messages).await;
        let new = Tool::new("sub", "Subtract", async |Add { a, b }: Add| {
            (a - b).to_string()
        });
        *tools.lock().unwrap() = calc().tool(new.always_load());
        methods.send_replace(Vec::new());
        client.announce_tools_changed("calc").await.unwrap();
        let mut listed = methods.subscribe();
        let again = listed.wait_for(|methods| methods.iter().any(|m| m == "tools/list"));
        tokio::time::timeout(LIMIT * 3, again)
            .await
            .expect("not listed again")
            .unwrap();
        wait_for_status(&client, "calc", |server| {
            server.tools.iter().flatten().any(|tool| tool.name == "sub")
        })
        .await;
        client.send("again").await.unwrap();
        next_result(&mut messages).await;
        let second = stage.server.messages()[1].model_request();
        assert!(
            second.tool_names().contains(&"mcp__calc__sub"),
            "{:?}",
            second.tool_names()
        );
        client.close().await.unwrap();
    }
}

/// An MCP server in a few lines of shell: one tool, `greet`.
const SHELL_SERVER: &str = r#"
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
    case "$line" in
    *'"method":"initialize"'*)
        result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"7"}}' ;;
    *'"method":"tools/list"'*)
        result='{"tools":[{"name":"greet","description":"greets","inputSchema":{"type":"object","properties":{}}}]}' ;;
    *'"method":"tools/call"'*)
        result='{"content":[{"type":"text","text":"hello from '$GREETER'"}]}' ;;
    *'"method":"ping"'*) result='{}' ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

/// The configuration of that server, written to a file in this directory.
fn shell_server(directory: &Path) -> McpServerConfig {
    let script = directory.join("server.sh");
    std::fs::write(&script, SHELL_SERVER).unwrap();
    let mut config = McpStdioConfig::new("sh");
    config.args = Some(vec![script.to_str().unwrap().to_owned()]);
    config.env = Some(BTreeMap::from([(
        "GREETER".to_owned(),
        "the shell".to_owned(),
    )]));
    McpServerConfig::Stdio(config)
}

/// Asks for the status until the server is as wanted.
async fn wait_for_status(
    client: &Client,
    name: &str,
    wanted: impl Fn(&McpServerStatus) -> bool,
) -> McpServerStatus {
    let started = Instant::now();
    loop {
        let all = client.mcp_status().await.unwrap();
        let found = all.iter().find(|server| server.name == name);
        match found {
            Some(server) if wanted(server) => return server.clone(),
            _ if started.elapsed() > LIMIT * 3 => panic!("{name} does not get there: {all:?}"),
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn wait_until(client: &Client, name: &str, status: McpConnection) -> McpServerStatus {
    wait_for_status(client, name, |server| server.status == status).await
}

#[tokio::test]
async fn a_child_process_server_is_connected_and_called() {
    let stage = one_call(tool_use("mcp__shell__greet", json!({})));
    let options = stage
        .options()
        .mcp_server("shell", shell_server(stage.project()))
        .allow_mcp_tool("shell", "greet");
    let (client, mut messages) = stage.connect(options).await;
    let status = wait_until(&client, "shell", McpConnection::Connected).await;
    assert_eq!(status.server_info.unwrap().version.as_deref(), Some("7"));
    assert_eq!(status.tools.unwrap()[0].name, "greet");
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    assert_eq!(stage.result_in(2).text, "hello from the shell");
    client.close().await.unwrap();
}

/// An address where nothing listens.
fn dead_url() -> String {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    format!("http://{}/mcp", listener.local_addr().unwrap())
}

#[tokio::test]
async fn servers_out_of_reach_are_failed_and_the_run_goes_on() {
    let stage = Stage::new(Scenario::new().turn(text("done")));
    let options = stage
        .options()
        .mcp_server(
            "http",
            McpServerConfig::Http(McpHttpConfig::new(dead_url())),
        )
        .mcp_server("sse", McpServerConfig::Sse(McpSseConfig::new(dead_url())))
        .mcp_server(
            "gone",
            McpServerConfig::Stdio(McpStdioConfig::new("/does/not/exist")),
        );
    let (client, mut messages) = stage.connect(options).await;
    for name in ["http", "sse", "gone"] {
        let status = wait_until(&client, name, McpConnection::Failed).await;
        assert!(status.error.is_some(), "{status:?}");
    }
    client.send("go").await.unwrap();
    assert!(next_result(&mut messages).await.is_success());
    client.close().await.unwrap();
}

#[tokio::test]
async fn servers_can_be_added_and_removed_while_running() {
    let scenario = Scenario::new()
        .turn(text("nothing yet"))
        .turn(tool_use("mcp__late__greet", json!({})))
        .turn(text("done"));
    let stage = Stage::new(scenario);
    let options = stage.options().allow_mcp_server("late");
    let (client, mut messages) = stage.connect(options).await;
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    let late = BTreeMap::from([("late".to_owned(), shell_server(stage.project()))]);
    let changed = client.set_mcp_servers(late).await.unwrap();
    assert_eq!(
        (changed.added, changed.removed),
        (vec!["late".to_owned()], vec![])
    );
    assert!(changed.errors.is_empty(), "{:?}", changed.errors);
    wait_until(&client, "late", McpConnection::Connected).await;
    client.send("greet").await.unwrap();
    next_result(&mut messages).await;
    assert_eq!(stage.result_in(3).text, "hello from the shell");
    let changed = client.set_mcp_servers(BTreeMap::new()).await.unwrap();
    assert_eq!(changed.removed, ["late"]);
    let left = client.mcp_status().await.unwrap();
    assert!(left.iter().all(|server| server.name != "late"), "{left:?}");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_server_can_be_switched_off_and_on_and_connected_anew() {
    let stage = Stage::new(Scenario::new());
    let options = stage
        .options()
        .mcp_server("shell", shell_server(stage.project()));
    let (client, _messages) = stage.connect(options).await;
    wait_until(&client, "shell", McpConnection::Connected).await;
    client.disable_mcp_server("shell").await.unwrap();
    wait_until(&client, "shell", McpConnection::Disabled).await;
    client.enable_mcp_server("shell").await.unwrap();
    wait_until(&client, "shell", McpConnection::Connected).await;
    client.reconnect_mcp_server("shell").await.unwrap();
    wait_until(&client, "shell", McpConnection::Connected).await;
    client.close().await.unwrap();
}

#[tokio::test]
async fn commands_for_an_unknown_server_are_refused() {
    let stage = Stage::new(Scenario::new());
    let (client, _messages) = stage.connect(stage.options()).await;
    let refused = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        assert!(
            matches!(&error, Error::Refused { message, .. } if message.contains("nobody")),
            "{error:?}"
        );
    };
    refused(client.reconnect_mcp_server("nobody").await);
    refused(client.enable_mcp_server("nobody").await);
    refused(client.disable_mcp_server("nobody").await);
    client.close().await.unwrap();
}

#[tokio::test]
async fn only_the_named_servers_count_when_the_configuration_is_strict() {
    for strict in [false, true] {
        let stage = Stage::new(Scenario::new());
        let user = json!({ "mcpServers": { "mine": { "command": "/does/not/exist" } } });
        let config = stage.config().parent().unwrap().join(".claude.json");
        std::fs::write(config, user.to_string()).unwrap();
        let options = if strict {
            stage.options().strict_mcp_config()
        } else {
            stage.options()
        };
        let (client, _messages) = stage.connect(options).await;
        let status = client.mcp_status().await.unwrap();
        let found = status.iter().any(|server| server.name == "mine");
        assert_eq!(found, !strict, "{status:?}");
        client.close().await.unwrap();
    }
}

#[cfg(feature = "rmcp")]
mod rmcp_server {
    //! A server of the `rmcp` crate, mounted.

    use falconer::RmcpServer;
    use rmcp::model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    };
    use rmcp::service::RequestContext;
    use rmcp::{ErrorData, RoleServer, ServerHandler};
    use serde_json::json;

    use super::{add_call, one_call};

    #[derive(Clone)]
    struct Calc;

    impl ServerHandler for Calc {
        fn get_info(&self) -> ServerConfig {
            ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        }

        async fn list_tools(
            &self,
            _: Option<PaginatedRequestParams>,
            _: RequestContext<RoleServer>,
        ) -> Result<ListToolsResult, ErrorData> {
            let schema = json!({ "type": "object", "properties": {
                "a": { "type": "integer" }, "b": { "type": "integer" } } });
            let schema = schema.as_object().unwrap().clone();
            Ok(ListToolsResult::with_all_items(vec![Tool::new(
                "add", "Add", schema,
            )]))
        }

        async fn call_tool(
            &self,
            request: CallToolRequestParams,
            _: RequestContext<RoleServer>,
        ) -> Result<CallToolResponse, ErrorData> {
            let arguments = request.arguments.unwrap_or_default();
            let sum: i64 = arguments.values().filter_map(|value| value.as_i64()).sum();
            Ok(CallToolResult::success(vec![ContentBlock::text(sum.to_string())]).into())
        }
    }

    #[tokio::test]
    async fn an_rmcp_server_is_called_like_any_other() {
        let stage = one_call(add_call());
        let options = stage
            .options()
            .allow_mcp_server("calc")
            .mount(RmcpServer::new("calc", || Calc));
        let outcome = stage.run("go", options).await;
        assert_eq!(outcome.text(), "done");
        let result = stage.result_in(2);
        assert_eq!((result.text.as_str(), result.is_error), ("42", false));
    }
}
