//! Sessions on disk: kept, resumed, forked.

use falconer_testkit::scenario::{Scenario, text};
use serde_json::json;

use super::{Case, all_same};

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

fn three(_: &std::path::Path) -> Scenario {
    let scenario = Scenario::new().turn(text("one")).turn(text("two"));
    scenario.turn(text("three"))
}

/// Two turns, then the session is resumed after the first.
fn cut(args: &[&str]) -> Case {
    let before = Case::bidi(three)
        .args([format!("--session-id={ID}").as_str()])
        .hello(json!({}))
        .say("first")
        .until("result")
        .say("second")
        .until("result")
        .eof();
    Case::one_shot("third", args, three).after(before)
}

#[test]
fn a_session_is_resumed_at_a_place() {
    cut(&[&format!("--resume={ID}"), "--resume-session-at=<answer>"]).same();
}

#[test]
fn a_session_is_forked_at_a_place() {
    cut(&[
        &format!("--resume={ID}"),
        "--fork-session",
        "--resume-session-at=<answer>",
    ])
    .same();
}

#[test]
fn flags_that_need_each_other() {
    all_same(
        [
            vec!["--fork-session"],
            vec!["--resume-session-at=bbbbbbbb-aaaa-4aaa-8aaa-aaaaaaaaaaaa"],
            vec!["--continue", "--fork-session"],
            vec!["--resume=not-an-id"],
            vec!["--resume="],
        ]
        .map(|args| Case::one_shot("hi", &args, |_| Scenario::new().turn(text("one")))),
    );
}

#[test]
fn a_session_that_was_not_kept_is_not_there() {
    let before = Case::one_shot(
        "first",
        &[&format!("--session-id={ID}"), "--no-session-persistence"],
        two,
    );
    Case::one_shot("second", &[&format!("--resume={ID}")], two)
        .after(before)
        .same();
}

#[test]
fn a_session_goes_on_in_a_conversation() {
    Case::bidi(three)
        .args([format!("--resume={ID}").as_str()])
        .hello(json!({}))
        .say("second")
        .until("result")
        .say("third")
        .until("result")
        .eof()
        .after(first())
        .same();
}

#[test]
fn a_session_with_a_name() {
    for name in ["a name", "", "two\nlines"] {
        Case::bidi(|_| Scenario::new().turn(text("done")))
            .args([format!("--name={name}").as_str()])
            .hello(json!({}))
            .say("go")
            .until("result")
            .eof()
            .same();
    }
}
