//! Whether the session is at work, as it is told to hosts that want to know.

use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::json;

use super::Case;

/// A command that runs in the background until it is told to end.
fn in_background() -> Case {
    let command = json!({"command": "until [ -e go ]; do sleep 0.05; done", "run_in_background": true, "description": "wait"});
    Case::bidi(move |_| {
        Scenario::new()
            .turn(tool_use("Bash", command.clone()))
            .turn(text("started"))
            .turn(text("it is done"))
    })
    .args(["--allowedTools=Bash"])
    .env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1")
    .hello(json!({}))
    .say("first")
    .until("result")
    .until("system/session_state_changed")
}

#[test]
fn a_task_that_ends_and_wakes_the_model() {
    in_background().touch("go").until("result").eof().same();
}

#[test]
fn a_task_that_is_stopped_and_wakes_nobody() {
    in_background()
        .control("stop", json!({"subtype": "stop_task", "task_id": "<task>"}))
        .until("system/session_state_changed")
        .eof()
        .same();
}

#[test]
fn a_question_waits_for_its_answer() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "touch x", "description": "touch"}),
            ))
            .turn(text("done"))
    })
    .args(["--permission-prompt-tool=stdio"])
    .env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1")
    .hello(json!({}))
    .allow()
    .say("first")
    .until("result")
    .eof()
    .same();
}
