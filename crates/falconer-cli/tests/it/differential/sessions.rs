//! Sessions on disk: kept, resumed, forked.

use falconer_testkit::scenario::{Scenario, text};
use serde_json::json;

use super::Case;

const ID: &str = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

fn two(_: &std::path::Path) -> Scenario {
    Scenario::new().turn(text("one")).turn(text("two"))
}

fn first() -> Case {
    Case::one_shot("first", &[&format!("--session-id={ID}")], two)
}

fn then(args: &[&str]) -> Case {
    Case::one_shot("second", args, two).after(first())
}

#[test]
fn a_session_is_resumed() {
    then(&[&format!("--resume={ID}")]).same();
}

#[test]
fn the_last_session_is_continued() {
    then(&["--continue"]).same();
}

#[test]
fn without_a_last_session_a_new_one_begins() {
    Case::one_shot("hi", &["--continue"], |_| Scenario::new().turn(text("one"))).same();
}

#[test]
fn a_session_is_forked() {
    then(&[&format!("--resume={ID}"), "--fork-session"]).same();
}

#[test]
fn an_id_that_is_taken() {
    then(&[&format!("--session-id={ID}")]).same();
}

#[test]
fn an_id_beside_a_session_to_resume() {
    then(&[
        &format!("--resume={ID}"),
        "--session-id=dddddddd-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
    ])
    .same();
}

#[test]
fn a_fork_with_an_id() {
    then(&[
        &format!("--resume={ID}"),
        "--fork-session",
        "--session-id=dddddddd-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
    ])
    .same();
}

#[test]
fn a_place_that_is_not_in_the_session() {
    then(&[
        &format!("--resume={ID}"),
        "--fork-session",
        "--resume-session-at=bbbbbbbb-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
    ])
    .same();
}

#[test]
fn nothing_is_kept_on_request() {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
        .args(["--no-session-persistence"])
        .hello(json!({}))
        .say("hi")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_conversation_is_cleared() {
    Case::bidi(two)
        .hello(json!({}))
        .say("first")
        .until("result")
        .say("/clear")
        .until("result")
        .say("second")
        .until("result")
        .eof()
        .same();
}
