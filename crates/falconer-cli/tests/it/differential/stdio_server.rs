//! A server that is a child process.

use falconer_testkit::scenario::{MessageReply, Scenario, text, tool_use};
use serde_json::{Value, json};

use super::Case;
use super::case::Answer;

const SERVER: &str = include_str!("server.py");

fn config() -> Value {
    json!({"command": "<python>", "args": ["<project>/server.py"]})
}

fn with_server(turns: impl Fn() -> Vec<MessageReply> + Send + Sync + 'static) -> Case {
    let servers = json!({"mcpServers": {"tiny": config()}});
    Case::bidi(move |_| turns().into_iter().fold(Scenario::new(), Scenario::turn))
        .args([
            format!("--mcp-config={servers}").as_str(),
            "--strict-mcp-config",
        ])
        .file("server.py", SERVER)
}

fn talk(case: Case) -> Case {
    case.hello(json!({})).say("go").until("result")
}

fn tool(name: &str, input: Value) -> MessageReply {
    tool_use(format!("mcp__tiny__{name}"), input)
}

#[test]
fn results_of_every_kind() {
    let case = with_server(|| {
        vec![
            tool("add", json!({"a": 2, "b": 3})),
            tool("add", json!({"a": 2})),
            tool("boom", json!({})),
            tool("refuse", json!({})),
            tool("show", json!({})),
            tool("count", json!({})),
            tool("nothing", json!({})),
            text("done"),
        ]
    });
    talk(case.args(["--allowedTools=mcp__tiny"])).eof().same();
}

/// Nobody is answered before both calls are there: one after the other would wait for ever.
#[test]
fn calls_that_only_read_run_at_the_same_time() {
    let case = with_server(|| {
        let second = "mcp__tiny__meet";
        vec![
            tool("meet", json!({})).tool_use(second, json!({})),
            text("done"),
        ]
    });
    talk(case.args(["--allowedTools=mcp__tiny"])).eof().same();
}

#[test]
fn a_server_that_dies() {
    let case = with_server(|| {
        vec![
            tool("die", json!({})),
            tool("add", json!({"a": 2, "b": 3})),
            text("done"),
        ]
    });
    talk(case.args(["--allowedTools=mcp__tiny"])).eof().same();
}

#[test]
fn tools_of_a_server_are_asked_for() {
    let case = with_server(|| {
        vec![
            tool("add", json!({"a": 2, "b": 3})),
            tool("boom", json!({})),
            text("done"),
        ]
    });
    talk(case.args(["--permission-prompt-tool=stdio"]).allow())
        .eof()
        .same();
}

#[test]
fn resources() {
    let case = with_server(|| {
        vec![
            tool_use("ListMcpResourcesTool", json!({})),
            tool_use("ListMcpResourcesTool", json!({"server": "tiny"})),
            tool_use("ListMcpResourcesTool", json!({"server": "none"})),
            tool_use(
                "ReadMcpResourceTool",
                json!({"server": "tiny", "uri": "note://one"}),
            ),
            tool_use(
                "ReadMcpResourceTool",
                json!({"server": "tiny", "uri": "note://none"}),
            ),
            tool_use(
                "ReadMcpResourceTool",
                json!({"server": "none", "uri": "note://one"}),
            ),
            text("done"),
        ]
    });
    talk(case).eof().same();
}

#[test]
fn a_server_is_switched() {
    let switch =
        |enabled: bool| json!({"subtype": "mcp_toggle", "serverName": "tiny", "enabled": enabled});
    let status = || json!({"subtype": "mcp_status"});
    talk(with_server(|| {
        vec![text("one"), text("two"), text("three")]
    }))
    .control("status", status())
    .control("off", switch(false))
    .control("status off", status())
    .say("without")
    .until("result")
    .control("on", switch(true))
    .control("status on", status())
    .control(
        "again",
        json!({"subtype": "mcp_reconnect", "serverName": "tiny"}),
    )
    .control("status again", status())
    .control(
        "unknown",
        json!({"subtype": "mcp_toggle", "serverName": "none", "enabled": true}),
    )
    .say("with")
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_dead_server_is_connected_again() {
    let case = with_server(|| {
        vec![
            tool("die", json!({})),
            text("dead"),
            tool("add", json!({"a": 1, "b": 1})),
            text("alive"),
        ]
    });
    talk(case.args(["--allowedTools=mcp__tiny"]))
        .control(
            "again",
            json!({"subtype": "mcp_reconnect", "serverName": "tiny"}),
        )
        .say("more")
        .until("result")
        .eof()
        .same();
}

#[test]
fn servers_come_and_go() {
    let set = |servers: Value| json!({"subtype": "mcp_set_servers", "servers": servers});
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool("add", json!({"a": 2, "b": 3})))
            .turn(text("done"))
            .turn(text("gone"))
    })
    .args(["--allowedTools=mcp__tiny"])
    .file("server.py", SERVER)
    .hello(json!({}))
    .control("set", set(json!({"tiny": config()})))
    .say("go")
    .until("result")
    .control("same", set(json!({"tiny": config()})))
    .control(
        "bad",
        set(json!({"bad": {"command": "/no/such/program", "args": []}})),
    )
    .control("nothing", set(json!({})))
    .control("status", json!({"subtype": "mcp_status"}))
    .say("again")
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_server_is_asked_by_the_host() {
    talk(with_server(|| vec![text("hi")]))
        .control(
            "call",
            json!({"subtype": "mcp_call", "tool": "mcp__tiny__add", "arguments": {"a": 2, "b": 3}}),
        )
        .control(
            "boom",
            json!({"subtype": "mcp_call", "tool": "mcp__tiny__boom"}),
        )
        .control(
            "none",
            json!({"subtype": "mcp_call", "tool": "mcp__tiny__none"}),
        )
        .control(
            "no server",
            json!({"subtype": "mcp_call", "tool": "mcp__none__add"}),
        )
        .control(
            "read",
            json!({"subtype": "mcp_read_resource", "serverName": "tiny", "uri": "note://one"}),
        )
        .control(
            "ui",
            json!({"subtype": "mcp_read_resource", "serverName": "tiny", "uri": "ui://none"}),
        )
        .eof()
        .same();
}

#[test]
fn a_server_decides_what_is_permitted() {
    let bash = |command: &str| tool_use("Bash", json!({"command": command, "description": "make"}));
    let case = with_server(move || {
        vec![
            bash("touch yes.txt"),
            bash("touch no.txt"),
            bash("touch plain.txt"),
            bash("touch garbage.txt"),
            text("done"),
        ]
    });
    talk(case.args(["--permission-prompt-tool=mcp__tiny__judge"]))
        .eof()
        .leaves("yes.txt")
        .leaves("no.txt")
        .leaves("plain.txt")
        .leaves("garbage.txt")
        .same();
}

#[test]
fn a_server_that_decides_is_not_there() {
    let trace = Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "touch a", "description": "a"}),
            ))
            .turn(text("done"))
    })
    .args(["--permission-prompt-tool=mcp__none__judge"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .leaves("a")
    .only_ours();
    let result = trace.frames.last().unwrap();
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    assert_eq!((trace.exit, &trace.left[0].1), (0, &None));
}

#[test]
fn servers_of_the_project_are_not_started_unasked() {
    let servers =
        json!({"mcpServers": {"tiny": {"command": "sh", "args": ["-c", "touch ran; cat"]}}});
    let trace = Case::bidi(|_| Scenario::new().turn(text("hi")))
        .file(".mcp.json", servers.to_string())
        .hello(json!({}))
        .say("go")
        .until("result")
        .control("status", json!({"subtype": "mcp_status"}))
        .eof()
        .leaves("ran")
        .only_ours();
    assert_eq!((trace.exit, &trace.left[0].1), (0, &None));
}

/// Questions of a server, with an answer of the host and hooks for all that happens.
fn asking(tools: &'static [&'static str], hooks: &Value) -> Case {
    let turns = move || {
        let calls = tools.iter().map(|name| tool(name, json!({})));
        calls.chain([text("done")]).collect()
    };
    with_server(turns)
        .args(["--allowedTools=mcp__tiny"])
        .answer(
            "elicitation",
            Answer::Success(json!({"action": "accept", "content": {"name": "Ada"}})),
        )
        .hello(json!({"hooks": hooks}))
        .say("go")
        .until("result")
        .eof()
        .with_results()
}

fn for_all(events: &[&str]) -> Value {
    let hooks = events.iter().map(|event| {
        let id = format!("on_{event}");
        (event.to_string(), json!([{"hookCallbackIds": [id]}]))
    });
    Value::Object(hooks.collect())
}

#[test]
fn questions_of_a_server_go_to_the_host() {
    asking(&["ask", "send"], &json!({})).same();
}

#[test]
fn hooks_hear_of_the_questions_of_a_server() {
    let hooks = for_all(&["Elicitation", "ElicitationResult"]);
    asking(&["ask", "send"], &hooks).hook(json!({})).same();
}

#[test]
fn hooks_that_object_decline_for_the_user() {
    let no = json!({"decision": "block", "reason": "no"});
    for event in ["Elicitation", "ElicitationResult"] {
        asking(&["ask"], &for_all(&[event])).hook(no.clone()).same();
    }
}

/// Programs of settings files answer in the place of the user, or change what the user said.
#[test]
fn hooks_of_settings_answer_a_server() {
    for (event, answer) in [
        (
            "Elicitation",
            json!({"action": "accept", "content": {"name": "Bob"}}),
        ),
        ("ElicitationResult", json!({"action": "decline"})),
    ] {
        let mut output = answer;
        output["hookEventName"] = json!(event);
        let output = json!({"hookSpecificOutput": output}).to_string();
        let mut hooks = json!({});
        hooks[event] = json!([{"matcher": "tiny", "hooks": [
            {"type": "command", "command": format!("echo '{output}'")},
        ]}]);
        let settings = json!({"hooks": hooks});
        asking(&["ask"], &json!({}))
            .args([format!("--settings={settings}").as_str()])
            .same();
    }
}

/// The official CLI asks the user nevertheless.
#[test]
fn hooks_of_the_host_answer_a_server() {
    let output = json!({"hookSpecificOutput":
        {"hookEventName": "Elicitation", "action": "accept", "content": {"name": "Bob"}}});
    let trace = asking(&["ask"], &for_all(&["Elicitation"]))
        .hook(output)
        .only_ours();
    let asked = |it: &&Value| it["request"]["subtype"] == "elicitation";
    assert_eq!(trace.frames.iter().filter(asked).count(), 0);
    let told = trace.frames.iter().find(|it| it["type"] == "user").unwrap();
    assert!(told.to_string().contains("Bob"), "{told}");
}
