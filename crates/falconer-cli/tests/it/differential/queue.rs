//! Prompts that come while a turn runs.

use falconer_testkit::scenario::{Scenario, hold, text, tool_use};
use serde_json::json;

use super::Case;

const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const SECOND: &str = "22222222-2222-4222-8222-222222222222";

#[test]
fn a_prompt_while_the_model_speaks_gets_its_own_turn() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(hold("later").text("one"))
            .turn(text("two"))
    })
    .hello(json!({}))
    .say_as(FIRST, "first")
    .requests(1)
    .say_as(SECOND, "second")
    .until("command_lifecycle")
    .until("command_lifecycle")
    .until("command_lifecycle")
    .release("later")
    .until("result")
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_prompt_while_a_tool_runs_joins_the_turn() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch started; until [ -e go ]; do sleep 0.05; done", "description": "wait"})))
            .turn(text("both"))
    })
    .args(["--allowedTools=Bash"])
    .hello(json!({}))
    .say_as(FIRST, "first")
    .until_file("started")
    .say_as(SECOND, "second")
    .until("command_lifecycle")
    .until("command_lifecycle")
    .until("command_lifecycle")
    .touch("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn the_same_prompt_twice_is_one() {
    Case::bidi(|_| Scenario::new().turn(text("one")).turn(text("two")))
        .hello(json!({}))
        .say_as(FIRST, "first")
        .until("result")
        .say_as(FIRST, "first")
        .say_as(SECOND, "second")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_prompt_that_is_only_kept() {
    Case::bidi(|_| Scenario::new().turn(text("one")))
        .hello(json!({}))
        .send(&json!({"type": "user", "message": {"role": "user", "content": "note"}, "shouldQuery": false, "uuid": FIRST}))
        .until("result")
        .say("go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_prompt_that_cannot_wait_ends_the_turn() {
    Case::bidi(|_| Scenario::new().turn(text("one").hold("never")).turn(text("two")))
        .args(["--include-partial-messages"])
        .hello(json!({}))
        .say_as(FIRST, "first")
        .until("stream_event")
        .until("stream_event")
        .until("stream_event")
        .send(&json!({"type": "user", "message": {"role": "user", "content": "now"}, "priority": "now", "uuid": SECOND}))
        .until("result")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_prompt_that_cannot_wait_ends_a_turn_without_words() {
    Case::bidi(|_| Scenario::new().turn(hold("never").text("one")).turn(text("two")))
        .hello(json!({}))
        .say_as(FIRST, "first")
        .requests(1)
        .send(&json!({"type": "user", "message": {"role": "user", "content": "now"}, "priority": "now", "uuid": SECOND}))
        .until("result")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_prompt_that_cannot_wait_waits_for_a_tool() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch started; until [ -e go ]; do sleep 0.05; done", "description": "wait"})))
            .turn(text("two"))
    })
    .args(["--allowedTools=Bash"])
    .hello(json!({}))
    .say_as(FIRST, "first")
    .until_file("started")
    .send(&json!({"type": "user", "message": {"role": "user", "content": "now"}, "priority": "now", "uuid": SECOND}))
    .until("command_lifecycle")
    .until("command_lifecycle")
    .until("command_lifecycle")
    .touch("go")
    .until("result")
    .until("result")
    .eof()
    .same();
}

#[test]
fn prompts_that_wait_together_share_a_turn() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(hold("later").text("one"))
            .turn(text("two and three"))
    })
    .hello(json!({}))
    .say_as(FIRST, "first")
    .requests(1)
    .say_as(SECOND, "second")
    .say_as("33333333-3333-4333-8333-333333333333", "third")
    .until("command_lifecycle")
    .until("command_lifecycle")
    .until("command_lifecycle")
    .until("command_lifecycle")
    .release("later")
    .until("result")
    .until("result")
    .eof()
    .same();
}
