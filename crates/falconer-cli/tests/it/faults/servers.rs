//! MCP servers that are broken, slow, or talk without end.

use serde_json::{Value, json};

use super::run::{Scene, Told, call};

/// Lines of Python that read questions and answer them.
const BASE: &str = r#"
import json, os, sys, time
def say(value): sys.stdout.write(json.dumps(value) + "\n"); sys.stdout.flush()
def reply(asked, result): say({"jsonrpc": "2.0", "id": asked["id"], "result": result})
def shake(asked): reply(asked, {"protocolVersion": asked["params"]["protocolVersion"],
    "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
def tool(name): return {"name": name, "description": "d", "inputSchema": {"type": "object"}}
def questions():
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("method") == "initialize": shake(asked)
        elif "id" in asked: yield asked
"#;

fn with_server(program: &str, calls: &[Value]) -> Told {
    let python = std::env::var("FALCONER_PYTHON").unwrap_or("python3".to_owned());
    let program = format!("{BASE}{program}");
    let config = json!({"mcpServers": {"bad": {"command": python, "args": ["-c", program]}}});
    let scene = Scene::new()
        .args(["--strict-mcp-config", "--allowedTools=mcp__bad"])
        .env("MCP_TIMEOUT", "5000")
        .env("MCP_TOOL_TIMEOUT", "1000");
    let config = format!("--mcp-config={config}");
    scene.run(scene.calls(calls).arg(config))
}

fn status(told: &Told) -> String {
    let init = told.frames.iter().find(|it| it["subtype"] == "init");
    let servers = &init.unwrap()["mcp_servers"];
    servers[0]["status"].as_str().unwrap().to_owned()
}

#[test]
fn a_server_that_cannot_be_used_fails_alone() {
    let programs = [
        ("sys.exit(3)", "failed"),
        (
            "print('no json'); sys.stdout.flush(); time.sleep(600)",
            "failed",
        ),
        ("time.sleep(600)", "failed"),
        ("for asked in questions(): sys.exit(1)", "failed"),
        ("for asked in questions(): time.sleep(600)", "failed"),
        (
            "for asked in questions(): reply(asked, {'tools': 7})",
            "failed",
        ),
        (
            "sys.stdout.write('x' * (80 << 20)); sys.stdout.flush(); time.sleep(600)",
            "failed",
        ),
        (
            "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)",
            "failed",
        ),
    ];
    for (program, expected) in programs {
        let told = with_server(program, &[]);
        told.went_well();
        assert_eq!(status(&told), expected, "{program}");
    }
}

#[test]
fn a_huge_list_of_tools_is_cut() {
    let told = with_server(
        "
page = [dict(tool('t%d' % n), description='d' * 3000) for n in range(20000)]
for asked in questions(): reply(asked, {'tools': page, 'nextCursor': 'more'})
",
        &[],
    );
    told.went_well();
    let init = told.frames.iter().find(|it| it["subtype"] == "init");
    let tools = init.unwrap()["tools"].as_array().unwrap();
    assert!(tools.len() < 20_000, "{} tools", tools.len());
}

#[test]
fn a_server_that_dies_or_hangs_in_a_call_fails_the_call() {
    for program in [
        "
for asked in questions():
    if asked['method'] == 'tools/list': reply(asked, {'tools': [tool('t')]})
    else: os._exit(1)
",
        "
for asked in questions():
    if asked['method'] == 'tools/list': reply(asked, {'tools': [tool('t')]})
    else: time.sleep(600)
",
        "
for asked in questions():
    if asked['method'] == 'tools/list': reply(asked, {'tools': [tool('t')]})
    else: reply(asked, {'content': 'nonsense'})
",
        "
for asked in questions():
    if asked['method'] == 'tools/list': reply(asked, {'tools': [tool('t')]})
    else: say({'jsonrpc': '2.0', 'id': 'somebody else', 'result': {}}); sys.exit(0)
",
    ] {
        let told = with_server(program, &[call("mcp__bad__t", json!({}))]);
        told.went_well();
        let answers = told.answers();
        assert!(answers[0].0, "{program}: {answers:?}");
    }
}
