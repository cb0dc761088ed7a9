//! A prompt and an answer, in every form.

use falconer_testkit::scenario::{Scenario, text, thinking, tool_use};
use serde_json::{Value, json};

use super::{Case, all_same};

fn hello() -> Case {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
}

#[test]
fn a_prompt_on_stdin() {
    hello()
        .hello(json!({}))
        .say("hi")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_prompt_without_a_hello() {
    hello().say("hi").until("result").eof().same();
}

#[test]
fn a_prompt_on_the_command_line() {
    Case::one_shot("hi", &[], |_| Scenario::new().turn(text("Hello."))).same();
}

#[test]
fn two_turns_in_one_process() {
    Case::bidi(|_| Scenario::new().turn(text("one")).turn(text("two")))
        .hello(json!({}))
        .say("first")
        .until("result")
        .say("second")
        .until("result")
        .eof()
        .same();
}

#[test]
fn blocks_come_one_by_one() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(thinking("Let me see.").text("I look.").tool_use(
                "Bash",
                json!({"command": "echo hi", "description": "greet"}),
            ))
            .turn(text("done"))
    })
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn partial_messages() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(thinking("Let me see.").text("I look.").tool_use(
                "Bash",
                json!({"command": "echo hi", "description": "greet"}),
            ))
            .turn(text("done"))
    })
    .args(["--include-partial-messages"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn prompts_with_an_id_have_a_life() {
    hello()
        .hello(json!({}))
        .say_as("11111111-1111-4111-8111-111111111111", "hi")
        .until("result")
        .eof()
        .same();
}

#[test]
fn prompts_are_replayed_on_request() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "echo hi", "description": "greet"}),
            ))
            .turn(text("done"))
    })
    .args(["--replay-user-messages", "--allowedTools=Bash"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn the_state_of_the_session_is_told_on_request() {
    hello()
        .env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1")
        .hello(json!({}))
        .say("hi")
        .until_all("system/session_state_changed", 2)
        .eof()
        .same();
}

#[test]
fn the_state_is_marked_for_sdks() {
    hello()
        .env("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1")
        .hello(json!({}))
        .say("hi")
        .until_all("system/session_state_changed", 2)
        .eof()
        .same();
}

#[test]
fn an_empty_answer() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(falconer_testkit::scenario::message())
            .turn(text("now"))
    })
    .hello(json!({}))
    .say("hi")
    .until("result")
    .eof()
    .same();
}

#[test]
fn json_output_is_one_result() {
    Case::bare(|_| Scenario::new().turn(text("Hello.")))
        .args(["-p", "--output-format=json", "--", "hi"])
        .eof()
        .same();
}

#[test]
fn text_output_is_the_answer() {
    Case::bare(|_| Scenario::new().turn(text("Hello.")))
        .args(["-p", "--", "hi"])
        .eof()
        .same();
}

#[test]
fn json_output_of_a_whole_run() {
    Case::bare(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "echo hi", "description": "greet"}),
            ))
            .turn(text("done"))
    })
    .args(["-p", "--output-format=json", "--verbose", "--", "hi"])
    .eof()
    .same();
}

#[test]
fn a_failure_as_json_and_text() {
    all_same(["json", "text"].map(|format| {
        Case::bare(|_| {
            Scenario::new()
                .on(falconer_testkit::scenario::any())
                .always()
                .reply(falconer_testkit::scenario::status(403))
        })
        .args(["-p", &format!("--output-format={format}"), "--", "hi"])
        .eof()
    }));
}

#[test]
fn a_prompt_comes_through_the_pipe() {
    all_same([vec!["-p"], vec!["-p", "--", "first"]].map(|arguments| {
        Case::bare(|_| Scenario::new().turn(text("Hello.")))
            .args(["--output-format=stream-json", "--verbose"])
            .args(arguments)
            .tail("words from a pipe")
    }));
}

#[test]
fn what_is_written_is_mirrored() {
    let case = Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "echo hi", "description": "greet"}),
            ))
            .turn(text("done"))
    })
    .args(["--session-mirror"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof();
    case.same();
    let mirrored = case.only_ours().frames.into_iter();
    let mirrored = mirrored.filter(|it| it["type"] == "transcript_mirror");
    let entries: Vec<Value> = mirrored
        .flat_map(|it| it["entries"].as_array().cloned().unwrap_or_default())
        .collect();
    let spoken = entries.iter().filter_map(|it| it["type"].as_str());
    let spoken: Vec<&str> = spoken
        .filter(|it| ["user", "assistant"].contains(it))
        .collect();
    assert_eq!(spoken, ["user", "assistant", "user", "assistant"]);
}

#[test]
fn texts_without_a_word_are_not_shown() {
    let said = |first: &'static str| {
        Case::bidi(move |_| {
            let call = json!({"command": "echo hi", "description": "greet"});
            Scenario::new()
                .turn(text(first).tool_use("Bash", call))
                .turn(text(first).text("full"))
                .turn(text(first))
                .turn(text("at last"))
        })
        .args(["--allowedTools=Bash"])
        .hello(json!({}))
        .say("one")
        .until("result")
        .say("two")
        .until("result")
        .eof()
    };
    super::all_same(["", " \n"].map(said));
}
