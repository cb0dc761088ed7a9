//! Questions to the person, plans, and values with a schema.

use falconer_testkit::scenario::{MessageReply, Scenario, any, text, tool_use};
use serde_json::{Value, json};

use super::case::Answer;
use super::{Case, all_same};

fn question(text: &str, header: &str, multiple: bool) -> Value {
    json!({"question": text, "header": header, "multiSelect": multiple, "options": [
        {"label": "Red", "description": "warm"},
        {"label": "Blue", "description": "cold"},
        {"label": "Green", "description": "calm"}]})
}

fn asked(turns: impl Fn() -> Vec<MessageReply> + Send + Sync + 'static) -> Case {
    Case::bidi(move |_| {
        let turns = turns().into_iter();
        turns
            .fold(Scenario::new(), Scenario::turn)
            .turn(text("done"))
    })
    .args(["--permission-prompt-tool=stdio"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
}

fn allowed(input: Value) -> Answer {
    let mut answer = json!({"behavior": "allow"});
    answer["updatedInput"] = input;
    Answer::Success(answer)
}

#[test]
fn several_questions_with_several_answers() {
    let questions = || {
        json!([
            question("Which colors?", "Colors", true),
            question("Which one?", "Color", false),
        ])
    };
    let answers = json!({"Which colors?": "Red, Green", "Which one?": "something of my own"});
    let notes = json!({"Which one?": {"notes": "a note"}});
    asked(move || {
        vec![tool_use(
            "AskUserQuestion",
            json!({"questions": questions()}),
        )]
    })
    .answer(
        "can_use_tool",
        allowed(json!({"questions": questions(), "answers": answers, "annotations": notes})),
    )
    .same();
}

#[test]
fn questions_with_answers_of_other_shapes() {
    let questions = || json!([question("Which colors?", "Colors", true)]);
    let ask = move || tool_use("AskUserQuestion", json!({"questions": questions()}));
    asked(move || vec![ask(), ask(), ask(), ask()])
        .answer(
            "can_use_tool",
            allowed(
                json!({"questions": questions(), "answers": {"Which colors?": ["Red", "Green"]}}),
            ),
        )
        .answer(
            "can_use_tool",
            allowed(json!({"questions": questions(), "answers": {"Another?": "Red"}})),
        )
        .answer(
            "can_use_tool",
            allowed(json!({"questions": questions(), "response": "none of these, rather yellow"})),
        )
        .answer(
            "can_use_tool",
            Answer::Success(json!({"behavior": "deny", "message": "ask later"})),
        )
        .same();
}

#[test]
fn questions_that_do_not_fit() {
    let option = json!({"label": "Red", "description": "warm"});
    asked(move || {
        vec![
            tool_use("AskUserQuestion", json!({"questions": []})),
            tool_use("AskUserQuestion", json!({})),
            tool_use(
                "AskUserQuestion",
                json!({"questions": [{"question": "Which?", "header": "A", "multiSelect": false,
                    "options": [option.clone()]}]}),
            ),
            tool_use(
                "AskUserQuestion",
                json!({"questions": [question("Which?", "A", false), question("Which?", "A", false)]}),
            ),
        ]
    })
    .allow()
    .same();
}

#[test]
fn a_plan_is_approved_with_another_mode() {
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    asked(|| vec![tool_use("ExitPlanMode", json!({"plan": "# Plan"}))])
        .args(["--permission-mode=plan"])
        .answer(
            "can_use_tool",
            Answer::Success(json!({"behavior": "allow", "updatedPermissions": [mode]})),
        )
        .same();
}

#[test]
fn there_is_no_plan_to_leave() {
    asked(|| vec![tool_use("ExitPlanMode", json!({"plan": "# Plan"}))])
        .allow()
        .same();
}

#[test]
fn planning_begins_by_itself_and_ends() {
    asked(|| {
        vec![
            tool_use("EnterPlanMode", json!({})),
            tool_use("ExitPlanMode", json!({"plan": "# Plan"})),
        ]
    })
    .allow()
    .same();
}

#[test]
fn planning_is_not_wanted() {
    asked(|| vec![tool_use("EnterPlanMode", json!({}))])
        .deny("no plans")
        .same();
}

const SCHEMA: &str = r#"--json-schema={"type":"object","properties":{"n":{"type":"integer"},"list":{"type":"array","items":{"enum":["a","b"]}}},"required":["n"],"additionalProperties":false}"#;

#[test]
fn a_value_is_right_at_last() {
    Case::one_shot("go", &[SCHEMA], |_| {
        Scenario::new()
            .turn(tool_use("StructuredOutput", json!({"n": 7, "list": ["c"]})))
            .turn(tool_use("StructuredOutput", json!({"n": 7, "more": 1})))
            .turn(text("a pause").tool_use("StructuredOutput", json!({})))
            .turn(tool_use(
                "StructuredOutput",
                json!({"n": 7, "list": ["a", "b"]}),
            ))
    })
    .same();
}

#[test]
fn a_value_beside_other_calls() {
    Case::one_shot("go", &[SCHEMA], |_| {
        Scenario::new().turn(
            tool_use(
                "Bash",
                json!({"command": "echo hi", "description": "greet"}),
            )
            .tool_use("StructuredOutput", json!({"n": 7})),
        )
    })
    .same();
}

#[test]
fn a_value_in_every_turn() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("StructuredOutput", json!({"n": 1})))
            .turn(text("no value"))
            .turn(tool_use("StructuredOutput", json!({"n": 2})))
            .on(any())
            .always()
            .reply(text("no value"))
    })
    .args([SCHEMA])
    .hello(json!({}))
    .say("one")
    .until("result")
    .say("two")
    .until("result")
    .say("three")
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_value_as_json_and_text() {
    all_same(["json", "text"].map(|format| {
        Case::bare(|_| Scenario::new().turn(tool_use("StructuredOutput", json!({"n": 7}))))
            .args([
                "-p",
                &format!("--output-format={format}"),
                SCHEMA,
                "--",
                "hi",
            ])
            .eof()
    }));
}
