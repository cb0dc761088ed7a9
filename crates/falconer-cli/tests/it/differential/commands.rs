//! Prompts that are commands.

use falconer_testkit::scenario::{Scenario, text};
use serde_json::json;

use super::{Case, all_same};

/// A command after a turn, and a turn after it.
fn command(command: &str) -> Case {
    Case::bidi(|_| Scenario::new().turn(text("one")).turn(text("two")))
        .hello(json!({}))
        .say("first")
        .until("result")
        .say(command)
        .until("result")
        .say("second")
        .until("result")
        .eof()
}

#[test]
fn the_cost() {
    command("/cost").same();
}

#[test]
fn the_usage() {
    command("/usage").same();
}

#[test]
fn another_model() {
    command("/model sonnet").same();
}

#[test]
fn a_command_of_the_terminal() {
    command("/help").same();
}

#[test]
fn commands_that_are_disabled() {
    all_same(
        ["/cost", "/context", "/model sonnet", "/nothing at all"].map(|command| {
            Case::bidi(|_| Scenario::new().turn(text("one")))
                .args(["--disable-slash-commands"])
                .hello(json!({}))
                .say(command)
                .until("result")
                .eof()
        }),
    );
}

#[test]
fn an_unknown_command() {
    Case::bidi(|_| Scenario::new().turn(text("one")))
        .hello(json!({}))
        .say("/nothing at all")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_command_with_a_name_is_replayed() {
    Case::bidi(|_| Scenario::new())
        .args(["--replay-user-messages"])
        .hello(json!({}))
        .say_as("11111111-1111-4111-8111-111111111111", "/usage")
        .until("result")
        .eof()
        .same();
}

#[test]
fn what_fills_the_context() {
    command("/context").same();
}

#[test]
fn there_is_nothing_to_clear() {
    Case::bidi(|_| Scenario::new().turn(text("one")))
        .hello(json!({}))
        .say("/clear")
        .until("result")
        .say("first")
        .until("result")
        .eof()
        .same();
}

#[test]
fn commands_on_the_command_line() {
    let prompts = ["/cost", "/context", "/nothing", "/", "/help", "/model"];
    all_same(
        prompts.map(|prompt| Case::one_shot(prompt, &[], |_| Scenario::new().turn(text("one")))),
    );
}

#[test]
fn commands_as_json_and_text() {
    all_same(["json", "text"].map(|format| {
        Case::bare(|_| Scenario::new())
            .args(["-p", &format!("--output-format={format}"), "--", "/help"])
            .eof()
    }));
}
