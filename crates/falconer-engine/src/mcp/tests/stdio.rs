//! Servers that are children.

use falconer_protocol::mcp::{McpConnection, McpServerConfig, McpStdioConfig};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fixture::{is_alive, names, object, python, scene, tool_named, wait_for};
use crate::mcp::servers::CallFailure;
use crate::mcp::{ServerError, Switch};
use crate::permission::Target;
use crate::tool::Describe as _;

const CALCULATOR: &str = r#"
tools = [tool("add", annotations={"readOnlyHint": True}), tool("boom"), tool("env"), tool("meta")]
def call(request):
    params = request["params"]
    name, given = params["name"], params.get("arguments") or {}
    if name == "add": reply(request, text(str(given["a"] + given["b"])))
    elif name == "boom": reply(request, text("it broke", isError=True))
    elif name == "env": reply(request, text(os.environ["OWN"] + " " + os.getcwd()))
    elif name == "meta": reply(request, text(json.dumps(params["_meta"])))
open("pid", "w").write(str(os.getpid()))
serve(tools, call)
"#;

#[tokio::test]
async fn tools_of_a_child_are_listed_called_and_ended() {
    let scene = scene(&[("SHARED", "from the session")]);
    let servers = scene.connect("my calc", McpServerConfig::Stdio(python(CALCULATOR)));
    assert_eq!(servers.status()[0].status, McpConnection::Pending);
    servers.settled().await;
    assert_eq!(
        names(&servers),
        ["add", "boom", "env", "meta"].map(|it| format!("mcp__my_calc__{it}"))
    );
    let add = tool_named(&servers, "mcp__my_calc__add");
    let target = Target::Mcp {
        server: "my calc".to_owned(),
    };
    assert_eq!(add.touched(), target);
    assert!(add.is_read_only());

    let sum = scene
        .call(&servers, "mcp__my_calc__add", json!({"a": 2, "b": 3}))
        .await;
    let five = json!([{"type": "text", "text": "5"}]);
    assert_eq!(
        (sum.shown(), sum.output, sum.is_error),
        (five.clone(), Some(five), false)
    );
    let boom = scene.call(&servers, "mcp__my_calc__boom", json!({})).await;
    assert_eq!((boom.said(), boom.is_error), ("it broke", true));
    assert_eq!(boom.output, Some(json!("Error: it broke")));
    let env = scene.call(&servers, "mcp__my_calc__env", json!({})).await;
    let cwd = scene.directory.path().canonicalize().unwrap();
    assert_eq!(
        env.shown()[0]["text"],
        format!("from the session {}", cwd.display())
    );
    let meta = scene.call(&servers, "mcp__my_calc__meta", json!({})).await;
    let meta: serde_json::Value =
        serde_json::from_str(meta.shown()[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(meta["claudecode/toolUseId"], "toolu_1");
    assert!(meta["progressToken"].is_number(), "{meta}");

    let status = serde_json::to_value(&servers.status()[0]).unwrap();
    assert_eq!(status["status"], "connected");
    assert_eq!(status["serverInfo"], json!({"name": "py", "version": "1"}));
    assert_eq!(status["transport"], "stdio");
    assert_eq!(
        status["tools"][0],
        json!({"name": "add", "annotations": {"readOnly": true}})
    );
    assert_eq!(status["config"]["command"], "python3");
    assert!(
        status["config"].get("env").is_none(),
        "variables may be secrets"
    );

    let pid = std::fs::read_to_string(scene.directory.path().join("pid")).unwrap();
    assert!(is_alive(&pid));
    servers.close().await;
    assert!(!is_alive(&pid));
    assert_eq!(names(&servers), [""; 0]);
}

#[tokio::test]
async fn a_call_by_name_serves_permission_prompts() {
    let scene = scene(&[]);
    let servers = scene.connect("calc", McpServerConfig::Stdio(python(CALCULATOR)));
    servers.settled().await;
    let never = CancellationToken::new();
    let arguments = object(json!({"a": 1, "b": 1}));
    let sum = servers
        .call("mcp__calc__add", arguments, None, &never)
        .await;
    assert_eq!(sum.as_deref(), Ok("2"));
    let boom = servers
        .call("mcp__calc__boom", object(json!({})), None, &never)
        .await;
    assert_eq!(boom, Err(CallFailure::Refused("it broke".to_owned())));
    let none = servers
        .call("mcp__calc__none", object(json!({})), None, &never)
        .await;
    assert_eq!(
        none,
        Err(CallFailure::NoSuchTool("mcp__calc__none".to_owned()))
    );
    servers.close().await;
}

#[tokio::test]
async fn servers_can_be_switched_and_connected_again() {
    let scene = scene(&[]);
    let servers = scene.connect("calc", McpServerConfig::Stdio(python(CALCULATOR)));
    servers.settled().await;
    let pid = || std::fs::read_to_string(scene.directory.path().join("pid")).unwrap();
    let first = pid();
    servers.toggle("calc", Switch::Off).await.unwrap();
    assert!(!is_alive(&first));
    assert_eq!(servers.status()[0].status, McpConnection::Disabled);
    assert_eq!(names(&servers), [""; 0]);
    servers.toggle("calc", Switch::On).await.unwrap();
    servers.settled().await;
    let second = pid();
    assert_eq!(names(&servers).len(), 4);
    servers.reconnect("calc").await.unwrap();
    assert!(!is_alive(&second) && is_alive(&pid()));
    let missing = servers.reconnect("other").await;
    assert_eq!(missing.unwrap_err().to_string(), "Server not found: other");
    servers.close().await;
    assert!(!is_alive(&pid()));
}

#[tokio::test]
async fn setting_servers_replaces_only_those_that_were_set() {
    let scene = scene(&[]);
    let servers = scene.connect("fixed", McpServerConfig::Stdio(python(CALCULATOR)));
    let wanted = |names: &[&str]| {
        let config = || McpServerConfig::Stdio(python(CALCULATOR));
        names
            .iter()
            .map(|name| ((*name).to_owned(), config()))
            .collect()
    };
    let response = servers.set_servers(&wanted(&["one", "two", "fixed"])).await;
    assert_eq!(response.added, ["one", "two"]);
    assert_eq!(response.errors.keys().collect::<Vec<_>>(), ["fixed"]);
    let response = servers.set_servers(&wanted(&["two", "three"])).await;
    assert_eq!(
        (response.added, response.removed),
        (vec!["three".to_owned()], vec!["one".to_owned()])
    );
    servers.settled().await;
    let status = servers.status();
    let left: Vec<_> = status
        .iter()
        .map(|it| (it.name.as_str(), &it.status))
        .collect();
    let connected = &McpConnection::Connected;
    assert_eq!(
        left,
        [
            ("fixed", connected),
            ("three", connected),
            ("two", connected)
        ]
    );
    let response = servers.set_servers(&wanted(&[])).await;
    assert_eq!(response.removed, ["three", "two"]);
    servers.close().await;
}

#[tokio::test]
async fn a_program_that_is_missing_or_misconfigured_fails_with_a_reason() {
    let scene = scene(&[]);
    let unset = McpStdioConfig {
        args: Some(vec!["${NOT_SET_ANYWHERE}".to_owned()]),
        ..McpStdioConfig::new("python3")
    };
    let cases = [
        (
            McpStdioConfig::new("/no/such/bin"),
            "program /no/such/bin does not exist",
        ),
        (unset, "environment variable `NOT_SET_ANYWHERE` is not set"),
        (
            python("sys.stderr.write('bad day\\n'); sys.exit(3)"),
            "it exited with code 3: bad day",
        ),
    ];
    for (config, expected) in cases {
        let servers = scene.connect("bad", McpServerConfig::Stdio(config));
        servers.settled().await;
        let status = &servers.status()[0];
        assert_eq!(status.status, McpConnection::Failed);
        let error = status.error.as_deref().unwrap_or_default();
        assert!(error.contains(expected), "{error} has no {expected}");
        let again = servers.reconnect("bad").await;
        assert!(
            matches!(again, Err(ServerError::NotConnected { .. })),
            "{again:?}"
        );
        servers.close().await;
    }
}

#[tokio::test]
async fn a_changed_list_is_read_again() {
    let scene = scene(&[]);
    let program = r#"
tools = [tool("first")]
def call(request):
    tools.append(tool("second"))
    note("notifications/tools/list_changed")
    reply(request, text("ok"))
serve(tools, call)
"#;
    let servers = scene.connect("s", McpServerConfig::Stdio(python(program)));
    servers.settled().await;
    assert_eq!(names(&servers), ["mcp__s__first"]);
    scene.call(&servers, "mcp__s__first", json!({})).await;
    wait_for(|| names(&servers) == ["mcp__s__first", "mcp__s__second"]).await;
    servers.close().await;
}

#[tokio::test]
async fn an_interrupted_call_is_cancelled_at_the_server() {
    let scene = scene(&[]);
    let program = r#"
for request in messages():
    method = request.get("method")
    if method == "initialize": shake(request)
    elif method == "tools/list": reply(request, {"tools": [tool("slow")]})
    elif method == "tools/call":
        started = request["id"]
        open("started", "w").write("x")
    elif method == "notifications/cancelled":
        open("cancelled", "w").write(str(request["params"]["requestId"] == started))
"#;
    let servers = scene.connect("s", McpServerConfig::Stdio(python(program)));
    servers.settled().await;
    let cancelled = CancellationToken::new();
    let running = scene.start(&servers, "mcp__s__slow", json!({}), cancelled.clone());
    let file = |name: &str| scene.directory.path().join(name);
    wait_for(|| file("started").exists()).await;
    cancelled.cancel();
    let outcome = running.await.unwrap();
    assert!(outcome.is_error);
    wait_for(|| std::fs::read_to_string(file("cancelled")).is_ok_and(|it| it == "True")).await;
    servers.close().await;
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let scene = scene(&[]);
    let program = r#"
import base64
for request in messages():
    method = request.get("method")
    if method == "initialize": shake(request, resources={})
    elif method == "tools/list": reply(request, {"tools": []})
    elif method == "resources/list":
        cursor = (request.get("params") or {}).get("cursor")
        page = [{"uri": "m://b", "name": "b"}] if cursor else [
            {"uri": "m://a", "name": "a", "mimeType": "text/plain", "description": "first"}]
        reply(request, {"resources": page, **({} if cursor else {"nextCursor": "2"})})
    elif method == "resources/read":
        uri = request["params"]["uri"]
        if uri == "m://a": contents = [{"uri": uri, "text": "hello"}]
        else: contents = [{"uri": uri, "mimeType": "image/png",
                           "blob": base64.b64encode(b"\x89PNG").decode()}]
        reply(request, {"contents": contents})
"#;
    let servers = scene.connect("s", McpServerConfig::Stdio(python(program)));
    servers.settled().await;
    assert_eq!(
        names(&servers),
        ["ListMcpResourcesTool", "ReadMcpResourceTool"]
    );
    let listed = scene
        .call(&servers, "ListMcpResourcesTool", json!({}))
        .await;
    let expected = json!([
        {"uri": "m://a", "name": "a", "mimeType": "text/plain", "description": "first", "server": "s"},
        {"uri": "m://b", "name": "b", "server": "s"},
    ]);
    assert_eq!(listed.output, Some(expected));
    let read = |uri: &str| json!({"server": "s", "uri": uri});
    let text = scene
        .call(&servers, "ReadMcpResourceTool", read("m://a"))
        .await;
    assert_eq!(
        text.output,
        Some(json!({"contents": [{"uri": "m://a", "text": "hello"}]}))
    );
    let blob = scene
        .call(&servers, "ReadMcpResourceTool", read("m://b"))
        .await;
    let output = blob.output.unwrap();
    let saved = output["contents"][0]["blobSavedTo"].as_str().unwrap();
    assert_eq!(std::fs::read(saved).unwrap(), b"\x89PNG");
    let missing = json!({"server": "nobody", "uri": "x"});
    let missing = scene.call(&servers, "ReadMcpResourceTool", missing).await;
    assert_eq!(missing.said(), "Server not found: nobody");
    servers.close().await;
}

#[tokio::test]
async fn a_question_of_a_server_goes_to_the_host_or_is_declined() {
    let program = r#"
def call(request):
    send({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": {
        "message": "name?", "requestedSchema": {"type": "object",
        "properties": {"name": {"type": "string"}}, "required": ["name"]}}})
    for answer in messages():
        if answer.get("id") == "q1":
            reply(request, text(json.dumps(answer["result"]))); return
serve([tool("ask")], call)
"#;
    let mut scene = scene(&[]);
    let servers = scene.connect("s", McpServerConfig::Stdio(python(program)));
    servers.settled().await;
    let never = CancellationToken::new;
    let first = scene.start(&servers, "mcp__s__ask", json!({}), never());
    let (id, question) = scene.lane.question().await;
    let question = serde_json::to_value(question).unwrap();
    assert_eq!(question["subtype"], "elicitation");
    assert_eq!(question["mcp_server_name"], "s");
    assert_eq!(question["message"], "name?");
    assert_eq!(question["requested_schema"]["required"], json!(["name"]));
    scene.lane.answer(
        &id,
        &json!({"action": "accept", "content": {"name": "Ada"}}),
    );
    let said = first.await.unwrap().shown()[0]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        said,
        json!({"action": "accept", "content": {"name": "Ada"}})
    );

    let second = scene.start(&servers, "mcp__s__ask", json!({}), never());
    let (id, _) = scene.lane.question().await;
    scene.lane.refuse(&id, "nobody is here");
    let said = second.await.unwrap().shown()[0]["text"].clone();
    assert_eq!(said, json!("{\"action\": \"decline\"}"));
    servers.close().await;
}

#[tokio::test]
async fn dropping_the_servers_ends_their_processes_too() {
    let scene = scene(&[]);
    let servers = scene.connect("calc", McpServerConfig::Stdio(python(CALCULATOR)));
    servers.settled().await;
    let pid = std::fs::read_to_string(scene.directory.path().join("pid")).unwrap();
    let tools = servers.tools();
    drop(servers);
    assert!(is_alive(&pid), "a tool that is held can still be called");
    drop(tools);
    wait_for(|| !is_alive(&pid)).await;
}
