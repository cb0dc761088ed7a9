//! Sessions that do not start, and signals.

use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::json;

use super::Case;

fn started(args: &[&str]) -> Case {
    Case::one_shot("hi", args, |_| Scenario::new().turn(text("Hello.")))
}

#[test]
fn stream_json_needs_verbose() {
    Case::bare(|_| Scenario::new())
        .args(["-p", "--output-format=stream-json", "--", "hi"])
        .eof()
        .same();
}

#[test]
fn stream_input_needs_stream_output() {
    Case::bare(|_| Scenario::new())
        .args(["-p", "--input-format=stream-json", "--", "hi"])
        .eof()
        .same();
}

#[test]
fn no_prompt() {
    Case::bare(|_| Scenario::new())
        .args(["-p", "--output-format=stream-json", "--verbose"])
        .eof()
        .same();
}

#[test]
fn an_unknown_mode() {
    started(&["--permission-mode=yolo"]).same();
}

#[test]
fn a_session_id_that_is_none() {
    started(&["--session-id=not-a-uuid"]).same();
}

#[test]
fn a_schema_that_is_no_json() {
    started(&["--json-schema={nope"]).same();
}

#[test]
fn a_schema_that_is_no_schema() {
    started(&[r#"--json-schema={"type":"bogus"}"#]).same();
}

#[test]
fn settings_that_are_no_json() {
    started(&["--settings={nope"]).same();
}

#[test]
fn servers_that_are_no_json() {
    started(&["--mcp-config={nope"]).same();
}

#[test]
fn root_may_not_bypass() {
    started(&["--dangerously-skip-permissions"]).same();
}

#[test]
fn root_may_not_bypass_and_is_told_in_a_result() {
    started(&["--dangerously-skip-permissions"])
        .env("CLAUDE_CODE_STARTUP_FAILURE_RESULTS", "1")
        .same();
}

#[test]
fn a_session_that_does_not_exist() {
    started(&["--resume=cccccccc-aaaa-4aaa-8aaa-aaaaaaaaaaaa"]).same();
}

#[test]
fn a_signal_to_stop_while_idle() {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
        .hello(json!({}))
        .say("hi")
        .until("result")
        .signal(15)
        .same();
}

#[test]
fn an_interrupt_signal_while_idle() {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
        .hello(json!({}))
        .say("hi")
        .until("result")
        .signal(2)
        .same();
}

#[test]
fn an_interrupt_signal_in_a_tool() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch started; while :; do sleep 0.05; done", "description": "wait"})))
            .turn(text("again"))
    })
    .args(["--allowedTools=Bash"])
    .hello(json!({}))
    .say("first")
    .until_file("started")
    .signal(2)
    .same();
}

#[test]
fn a_signal_to_stop_in_the_stream() {
    Case::bidi(|_| Scenario::new().turn(text("a beginning").hold("later")))
        .args(["--include-partial-messages"])
        .hello(json!({}))
        .say("go")
        .until("stream_event")
        .until("stream_event")
        .until("stream_event")
        .signal(15)
        .same();
}
