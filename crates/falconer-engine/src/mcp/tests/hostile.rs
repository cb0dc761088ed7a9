//! Servers that are broken, slow, or mean harm.

use falconer_protocol::mcp::{McpConnection, McpServerConfig};
use serde_json::{Value, json};

use super::fixture::{declared, is_alive, names, object, python, scene, tool_named, wait_for};
use crate::mcp::Servers;
use crate::tool::Describe as _;

fn child(program: &str) -> McpServerConfig {
    McpServerConfig::Stdio(python(program))
}

#[tokio::test]
async fn a_huge_list_is_cut() {
    let scene = scene(&[]);
    let program = r#"
page = [tool("t%d" % number, description="d" * 5000) for number in range(400)]
for request in messages():
    if request.get("method") == "initialize": shake(request)
    elif request.get("method") == "tools/list": reply(request, {"tools": page, "nextCursor": "more"})
"#;
    let program = program.replace("tool(\"t%d\" % number, ", "dict(tool(\"t%d\" % number), ");
    let servers = scene.connect("big", child(&program));
    servers.settled().await;
    // The pages repeat themselves for ever; names count once.
    let tools = servers.tools();
    assert_eq!(tools.len(), 400, "{:?}", servers.status()[0].error);
    assert!(tools[0].description().chars().count() < 2100);
    servers.close().await;
}

#[tokio::test]
async fn tools_with_impossible_schemas_are_left_out() {
    let scene = scene(&[]);
    let program = r#"
big = {"type": "object", "description": "x" * 100000}
serve([tool("good"), tool("big", inputSchema=big), tool("odd", inputSchema={"type": "string"}),
       tool(" "), tool("bare", inputSchema={})], None)
"#;
    let program = program.replace("tool(\"big\", ", "dict(tool(\"big\"), ");
    let program = program.replace("tool(\"odd\", ", "dict(tool(\"odd\"), ");
    let program = program.replace("tool(\"bare\", ", "dict(tool(\"bare\"), ");
    let servers = scene.connect("s", child(&program));
    servers.settled().await;
    assert_eq!(names(&servers), ["mcp__s__good", "mcp__s__bare"]);
    let bare = tool_named(&servers, "mcp__s__bare");
    assert_eq!(bare.input_schema(), json!({"type": "object"}));
    servers.close().await;
}

#[tokio::test]
async fn nobody_can_pass_for_another_server() {
    let scene = scene(&[]);
    let one = r#"
def call(request): reply(request, text("one"))
serve([tool("b__c"), tool("x.y"), tool("x y")], call)
"#;
    let two = r#"
def call(request): reply(request, text("two"))
serve([tool("c"), tool("x_y")], call)
"#;
    let all = vec![
        declared("a", child(one)),
        declared("a__b", child(two)),
        declared("a_b", child(two)),
    ];
    let servers = Servers::connect(all, scene.wiring.clone());
    servers.settled().await;
    let expected = [
        "mcp__a__b__c",
        "mcp__a__x_y",
        "mcp__a_b__c",
        "mcp__a_b__x_y",
    ];
    assert_eq!(names(&servers), expected);
    let said = scene.call(&servers, "mcp__a__b__c", json!({})).await;
    assert_eq!(said.shown()[0]["text"], "one");
    let owner = |tool: &str| tool_named(&servers, tool).server.declared.name.clone();
    assert_eq!(
        owner("mcp__a_b__c"),
        "a__b",
        "the first of two servers with one name"
    );
    servers.close().await;
}

#[tokio::test]
async fn a_giant_result_is_saved_to_a_file() {
    let scene = scene(&[]);
    let program = r#"
def call(request): reply(request, text("x" * 2000000))
serve([tool("big")], call)
"#;
    let servers = scene.connect("s", child(program));
    servers.settled().await;
    let outcome = scene.call(&servers, "mcp__s__big", json!({})).await;
    let told = outcome.said();
    let start = "Error: result (2,000,000 characters across 1 line) exceeds maximum allowed \
                 tokens. Output has been saved to ";
    let rest = told.strip_prefix(start).unwrap_or_else(|| panic!("{told}"));
    let path = rest.lines().next().unwrap();
    assert_eq!(std::fs::read(path).unwrap().len(), 2_000_000);
    assert!(told.len() < 1000);
    servers.close().await;
}

#[tokio::test]
async fn contents_that_are_no_text_are_shown_or_saved() {
    let scene = scene(&[]);
    let program = r#"
def call(request): reply(request, {"content": [
    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    {"type": "image", "data": "!!!", "mimeType": "image/tiff"},
    {"type": "resource_link", "uri": "m://x", "name": "x"},
    {"type": "resource", "resource": {"uri": "m://y", "text": "why"}}]})
serve([tool("mixed")], call)
"#;
    let servers = scene.connect("s", child(program));
    servers.settled().await;
    let outcome = scene.call(&servers, "mcp__s__mixed", json!({})).await;
    let blocks = outcome.shown();
    let image = json!({"type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    assert_eq!(blocks[0], image);
    let text = |index: usize| blocks[index]["text"].as_str().unwrap();
    let copy = text(1).strip_prefix("[The image is in ").unwrap();
    assert_eq!(
        std::fs::read(copy.trim_end_matches(']')).unwrap(),
        [0, 0, 0]
    );
    let saved = text(2)
        .strip_prefix("[A sound (audio/wav) was saved to ")
        .unwrap();
    assert_eq!(
        std::fs::read(saved.trim_end_matches(']')).unwrap(),
        [0, 0, 0]
    );
    assert_eq!(text(3), "[An image (image/tiff) cannot be decoded]");
    assert_eq!(text(4), "[Resource link: x] m://x");
    assert_eq!(text(5), "[Resource m://y]\nwhy");
    let links = &outcome.output.unwrap()["resourceLinks"];
    assert_eq!(*links, json!([{"uri": "m://x", "name": "x"}]));
    servers.close().await;
}

#[tokio::test]
async fn output_without_end_cuts_the_server_off() {
    let scene = scene(&[]);
    let program = r#"
def call(request):
    open("pid", "w").write(str(os.getpid()))
    while True: sys.stdout.write("x" * 1000000)
serve([tool("flood")], call)
"#;
    let servers = scene.connect("s", child(program));
    servers.settled().await;
    let outcome = scene.call(&servers, "mcp__s__flood", json!({})).await;
    assert!(outcome.is_error);
    assert!(outcome.said().contains("is not connected"), "{outcome:?}");
    assert_eq!(servers.status()[0].status, McpConnection::Failed);
    let pid = std::fs::read_to_string(scene.directory.path().join("pid")).unwrap();
    wait_for(|| !is_alive(&pid)).await;
    servers.close().await;
}

#[tokio::test]
async fn complaints_without_end_do_no_harm() {
    let scene = scene(&[]);
    let program = r#"
def call(request):
    for _ in range(200): sys.stderr.write("complaint " * 10000 + "\n")
    sys.stderr.write("last words\n")
    sys.stderr.flush()
    os._exit(4)
serve([tool("loud")], call)
"#;
    let servers = scene.connect("s", child(program));
    servers.settled().await;
    let outcome = scene.call(&servers, "mcp__s__loud", json!({})).await;
    let told = outcome.said();
    assert!(
        told.contains("it exited with code 4") && told.contains("last words"),
        "{}",
        &told[..200]
    );
    assert!(told.len() < 10_000);
    servers.close().await;
}

#[tokio::test]
async fn junk_between_messages_is_ignored() {
    let scene = scene(&[]);
    let program = r#"
def call(request):
    for junk in ["not json", "{\"half\": ", "[]", "7", "{}", "\"x\"", "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}"]:
        sys.stdout.write(junk + "\n")
    reply(request, text("still here"))
serve([tool("junk")], call)
"#;
    let servers = scene.connect("s", child(program));
    servers.settled().await;
    let outcome = scene.call(&servers, "mcp__s__junk", json!({})).await;
    assert_eq!(outcome.shown()[0]["text"], "still here");
    servers.close().await;
}

#[tokio::test]
async fn results_that_make_no_sense_are_errors() {
    let scene = scene(&[]);
    let program = r#"
odd = [{}, {"content": "x"}, {"content": [{"type": "hologram"}]}, 7, None, [], {"content": []}]
def call(request): reply(request, odd[request["params"]["arguments"]["n"]])
serve([tool("odd")], call)
"#;
    let servers = scene.connect("s", child(program));
    servers.settled().await;
    for number in [1, 2] {
        let outcome = scene
            .call(&servers, "mcp__s__odd", json!({ "n": number }))
            .await;
        assert!(outcome.is_error, "{number}: {outcome:?}");
    }
    let empty = scene.call(&servers, "mcp__s__odd", json!({"n": 6})).await;
    assert_eq!(
        (empty.shown(), empty.is_error),
        (Value::Array(Vec::new()), false)
    );
    servers.close().await;
}

const SILENT: &str = "open('pid', 'w').write(str(os.getpid()))\nfor line in sys.stdin: pass";

#[tokio::test]
async fn a_server_that_hangs_does_not_hold_up_the_others() {
    let scene = scene(&[]);
    let good = "serve([tool('t')], None)";
    let all = vec![
        declared("good", child(good)),
        declared("silent", child(SILENT)),
    ];
    let servers = Servers::connect(all, scene.wiring.clone());
    wait_for(|| names(&servers) == ["mcp__good__t"]).await;
    assert_eq!(servers.status()[1].status, McpConnection::Pending);
    let file = scene.directory.path().join("pid");
    wait_for(|| std::fs::read_to_string(&file).is_ok_and(|pid| !pid.is_empty())).await;
    servers.close().await;
    assert!(!is_alive(&std::fs::read_to_string(&file).unwrap()));
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up() {
    let scene = scene(&[("MCP_TIMEOUT", "200")]);
    let servers = scene.connect("silent", child(SILENT));
    servers.settled().await;
    let status = &servers.status()[0];
    assert_eq!(status.status, McpConnection::Failed);
    let error = status.error.as_deref().unwrap();
    assert_eq!(
        error,
        "the server was not ready within 200 ms (MCP_TIMEOUT)"
    );
    servers.close().await;
}

#[tokio::test]
async fn a_tool_that_hangs_is_given_up() {
    let scene = scene(&[("MCP_TOOL_TIMEOUT", "300")]);
    let slow = "serve([tool('never')], lambda request: None)";
    let servers = scene.connect("slow", child(slow));
    servers.settled().await;
    let outcome = scene.call(&servers, "mcp__slow__never", json!({})).await;
    assert_eq!(outcome.said(), "the tool did not answer within 300 ms");
    servers.close().await;
}

#[tokio::test]
async fn a_server_that_dies_is_reported() {
    let scene = scene(&[]);
    let program = "serve([tool('die')], lambda request: os._exit(9))";
    let servers = scene.connect("s", child(program));
    servers.settled().await;
    let outcome = scene.call(&servers, "mcp__s__die", json!({})).await;
    assert!(
        outcome.said().contains("it exited with code 9"),
        "{outcome:?}"
    );
    assert_eq!(servers.status()[0].status, McpConnection::Failed);
    assert_eq!(names(&servers), ["mcp__s__die"], "its tools stay");
    let input = object(json!({}));
    let again = servers
        .call("mcp__s__die", input, None, &Default::default())
        .await;
    let words = again.unwrap_err().to_string();
    assert!(words.contains("it exited with code 9"), "{words}");
    servers.reconnect("s").await.unwrap();
    assert_eq!(names(&servers), ["mcp__s__die"]);
    servers.close().await;
}
