//! Tools of the host, and of servers.

use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::json;

use super::Case;
use super::case::Answer;

fn calls(_: &std::path::Path) -> Scenario {
    Scenario::new()
        .turn(tool_use("mcp__calc__add", json!({"a": 2, "b": 3})))
        .turn(tool_use("mcp__calc__boom", json!({})))
        .turn(text("done"))
}

fn calculator(case: Case) -> Case {
    case.say("go")
        .until("result")
        .eof()
        .answer("mcp_message", Answer::Calculator)
}

#[test]
fn tools_of_the_host() {
    let case = Case::bidi(calls)
        .args(["--allowedTools=mcp__calc__add,mcp__calc__boom"])
        .hello(json!({"sdkMcpServers": ["calc"]}));
    calculator(case).same();
}

#[test]
fn tools_of_the_host_by_configuration() {
    let case = Case::bidi(calls)
        .args([
            "--allowedTools=mcp__calc",
            "--mcp-config={\"mcpServers\":{\"calc\":{\"type\":\"sdk\",\"name\":\"calc\"}}}",
        ])
        .hello(json!({}));
    calculator(case).same();
}

#[test]
fn tools_of_the_host_are_asked_for() {
    let case = Case::bidi(calls)
        .args(["--permission-prompt-tool=stdio"])
        .hello(json!({"sdkMcpServers": ["calc"]}))
        .allow();
    calculator(case).same();
}

#[test]
fn the_state_of_servers() {
    Case::bidi(|_| Scenario::new().turn(text("hi")))
        .hello(json!({"sdkMcpServers": ["calc"]}))
        .answer("mcp_message", Answer::Calculator)
        .say("go")
        .until("result")
        .control("status", json!({"subtype": "mcp_status"}))
        .eof()
        .same();
}

#[test]
fn a_server_that_cannot_be_started() {
    Case::bidi(|_| Scenario::new().turn(text("hi")))
        .args(["--mcp-config={\"mcpServers\":{\"bad\":{\"command\":\"/no/such/program\",\"args\":[]}}}"])
        .hello(json!({}))
        .say("go")
        .until("result")
        .control("status", json!({"subtype": "mcp_status"}))
        .eof()
        .same();
}

#[test]
fn a_host_that_fails_a_call() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("mcp__calc__add", json!({"a": 2, "b": 3})))
            .turn(text("done"))
    })
    .args(["--allowedTools=mcp__calc"])
    .answer("mcp_message", Answer::Calculator)
    .answer("mcp_message", Answer::Calculator)
    .answer("mcp_message", Answer::Calculator)
    .answer("mcp_message", Answer::Error("host broke".to_owned()))
    .hello(json!({"sdkMcpServers": ["calc"]}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn servers_are_set_while_the_session_runs() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("mcp__calc__add", json!({"a": 2, "b": 3})))
            .turn(text("done"))
    })
    .args(["--allowedTools=mcp__calc"])
    .answer("mcp_message", Answer::Calculator)
    .hello(json!({}))
    .control(
        "set",
        json!({"subtype": "mcp_set_servers", "servers": {"calc": {"type": "sdk", "name": "calc"}}}),
    )
    .say("go")
    .until("result")
    .eof()
    .same();
}

fn manifest(version: &str) -> serde_json::Value {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    json!({
        "initializeResult": {"protocolVersion": version, "capabilities": {"tools": {}},
            "serverInfo": {"name": "calc", "version": "1.0.0"}},
        "toolsListResult": {"tools": [tool("add"), tool("boom")]},
    })
}

/// What a server of the host has said already is not asked again; what cannot be used is.
#[test]
fn tools_of_the_host_that_are_known_already() {
    for manifest in [manifest("2025-11-25"), manifest("1999-01-01"), json!({})] {
        let case = Case::bidi(calls)
            .args(["--allowedTools=mcp__calc__add,mcp__calc__boom"])
            .hello(json!({"sdkMcpServers": ["calc"], "sdkMcpServerManifests": {"calc": manifest}}));
        calculator(case).same();
    }
}
