//! Sessions that do not start, and signals.

use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::json;

use super::{Case, all_same};

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
    // On a busy machine the official engine is gone before it has said what became of the turn.
    let trace = Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch started; while :; do sleep 0.05; done", "description": "wait"})))
            .turn(text("again"))
    })
    .args(["--allowedTools=Bash"])
    .hello(json!({}))
    .say("first")
    .until_file("started")
    .signal(2)
    .only_ours();
    let result = trace.frames.last().unwrap();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["terminal_reason"], "aborted_tools");
    assert_eq!(trace.exit, 0);
}

#[test]
fn a_signal_to_stop_in_the_stream() {
    Case::bidi(|_| Scenario::new().turn(text("a beginning").hold("later")))
        .args(["--include-partial-messages"])
        .hello(json!({}))
        .say("go")
        .until_all("stream_event", 3)
        .signal(15)
        .same();
}

#[test]
fn an_interrupt_signal_in_the_stream() {
    Case::bidi(|_| Scenario::new().turn(text("a beginning").hold("later")))
        .args(["--include-partial-messages"])
        .hello(json!({}))
        .say("go")
        .until_all("stream_event", 3)
        .signal(2)
        .same();
}

#[test]
fn an_interrupt_signal_while_the_host_is_asked() {
    // The hook holds the question back until the whole answer has come.
    let hook = json!({"type": "command", "command": "until [ -e go ]; do sleep 0.01; done"});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
    let case = Case::bidi(|_| {
        let input = json!({"command": "touch a", "description": "a"});
        Scenario::new().turn(tool_use("Bash", input))
    });
    let case = case
        .args([
            "--permission-prompt-tool=stdio",
            "--include-partial-messages",
        ])
        .args([format!("--settings={settings}").as_str()])
        .hello(json!({}))
        .say("go");
    let heard = (0..6).fold(case, |case, _| case.until("stream_event"));
    heard
        .touch("go")
        .until("control_request/can_use_tool")
        .signal(2)
        .same();
}

#[test]
fn signals_before_anything_is_said() {
    all_same([2, 15].map(|signal| {
        Case::bidi(|_| Scenario::new())
            .hello(json!({}))
            .signal(signal)
    }));
}

#[test]
fn the_input_ends_in_the_stream() {
    Case::bidi(|_| Scenario::new().turn(text("a beginning").hold("later").text("the rest")))
        .args(["--include-partial-messages"])
        .hello(json!({}))
        .say("go")
        .until_all("stream_event", 3)
        .eof()
        .release("later")
        .same();
}

#[test]
fn the_input_ends_in_a_tool() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch started; until [ -e go ]; do sleep 0.05; done", "description": "wait"})))
            .turn(text("done"))
    })
    .args(["--allowedTools=Bash"])
    .hello(json!({}))
    .say("first")
    .until_file("started")
    .eof()
    .touch("go")
    .same();
}

#[test]
fn limits_that_are_none() {
    all_same(
        [
            ["--max-turns=0", "--max-budget-usd=1"],
            ["--max-turns=-1", "--verbose"],
            ["--max-turns=many", "--verbose"],
            ["--max-budget-usd=0", "--verbose"],
            ["--max-budget-usd=-1", "--verbose"],
            ["--max-budget-usd=much", "--verbose"],
            ["--output-format=yaml", "--verbose"],
            ["--input-format=yaml", "--verbose"],
            ["--setting-sources=nowhere", "--verbose"],
            ["--effort=much", "--verbose"],
        ]
        .map(|args| started(&args)),
    );
}
