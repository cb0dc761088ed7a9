//! Prompts that are commands.

use falconer_testkit::scenario::{Scenario, text};
use serde_json::json;

use super::Case;

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
