//! Turns that end before the model is done.

use std::path::Path;

use falconer_testkit::scenario::{Scenario, Usage, text, tool_use};
use serde_json::json;

use super::Case;

fn endless(_: &Path) -> Scenario {
    Scenario::new()
        .on(falconer_testkit::scenario::any())
        .always()
        .reply(tool_use(
            "Bash",
            json!({"command": "echo hi", "description": "greet"}),
        ))
}

#[test]
fn too_many_turns() {
    Case::one_shot("go", &["--max-turns=2"], endless).same();
}

#[test]
fn too_many_turns_in_a_conversation() {
    Case::bidi(endless)
        .args(["--max-turns=2"])
        .hello(json!({}))
        .say("one")
        .until("result")
        .say("two")
        .until("result")
        .eof()
        .same();
}

#[test]
fn the_answer_is_cut_off_once() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(text("half").stop_reason("max_tokens"))
            .turn(text("rest"))
    })
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn the_answer_is_always_cut_off() {
    Case::bidi(|_| {
        Scenario::new()
            .on(falconer_testkit::scenario::any())
            .always()
            .reply(text("half").stop_reason("max_tokens"))
    })
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn the_model_pauses() {
    Case::bidi(|_| Scenario::new().turn(text("wait").stop_reason("pause_turn")))
        .hello(json!({}))
        .say("go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn the_budget_is_spent() {
    let usage = || {
        serde_json::from_value::<Usage>(
            json!({"input_tokens": 1_000_000, "output_tokens": 100_000}),
        )
        .unwrap()
    };
    Case::one_shot("go", &["--max-budget-usd=1.0"], move |_| {
        Scenario::new()
            .turn(
                tool_use(
                    "Bash",
                    json!({"command": "echo hi", "description": "greet"}),
                )
                .usage(usage()),
            )
            .turn(text("done").usage(usage()))
    })
    // The CLI forgets the answer that spent it.
    .ours("result", "/usage/input_tokens", json!(1_000_000))
    .ours("result", "/usage/output_tokens", json!(100_000))
    .same();
}

const SCHEMA: &str =
    r#"--json-schema={"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

#[test]
fn the_value_asked_for() {
    Case::one_shot("go", &[SCHEMA], |_| {
        Scenario::new().turn(tool_use("StructuredOutput", json!({"n": 7})))
    })
    .same();
}

#[test]
fn a_wrong_value_then_the_right_one() {
    Case::one_shot("go", &[SCHEMA], |_| {
        Scenario::new()
            .turn(tool_use("StructuredOutput", json!({"n": "seven"})))
            .turn(tool_use("StructuredOutput", json!({"n": 7})))
    })
    .same();
}

#[test]
fn never_the_right_value() {
    Case::one_shot("go", &[SCHEMA], |_| {
        Scenario::new()
            .on(falconer_testkit::scenario::any())
            .always()
            .reply(tool_use("StructuredOutput", json!({"n": "seven"})))
    })
    // The CLI forgets the last answer, in some runs its cost, too.
    .ours("result", "/usage/input_tokens", json!(50))
    .ours("result", "/usage/output_tokens", json!(25))
    .ours(
        "result",
        "/total_cost_usd",
        json!(0.000_700_000_000_000_000_1),
    )
    .ours(
        "result",
        "/modelUsage/claude-opus-5-5/inputTokens",
        json!(50),
    )
    .ours(
        "result",
        "/modelUsage/claude-opus-5-5/outputTokens",
        json!(25),
    )
    .ours(
        "result",
        "/modelUsage/claude-opus-5-5/costUSD",
        json!(0.000_700_000_000_000_000_1),
    )
    .ours(
        "result",
        "/model_usage_since_last_result/claude-opus-5-5/inputTokens",
        json!(50),
    )
    .ours(
        "result",
        "/model_usage_since_last_result/claude-opus-5-5/outputTokens",
        json!(25),
    )
    .ours(
        "result",
        "/model_usage_since_last_result/claude-opus-5-5/costUSD",
        json!(0.000_700_000_000_000_000_1),
    )
    .same();
}

#[test]
fn no_value_at_all() {
    Case::one_shot("go", &[SCHEMA], |_| {
        Scenario::new()
            .on(falconer_testkit::scenario::any())
            .always()
            .reply(text("I would rather talk."))
    })
    .same();
}

#[test]
fn a_schema_in_the_first_request() {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    Case::bidi(|_| Scenario::new().turn(tool_use("StructuredOutput", json!({"n": 7}))))
        .hello(json!({"jsonSchema": schema}))
        .say("go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn too_many_turns_for_a_prompt_with_a_name() {
    Case::bidi(endless)
        .args(["--max-turns=2"])
        .hello(json!({}))
        .say_as("11111111-1111-4111-8111-111111111111", "one")
        .until("result")
        .eof()
        .same();
}
