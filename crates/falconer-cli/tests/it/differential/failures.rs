//! A model that cannot be asked, or does not answer.

use falconer_testkit::scenario::{Scenario, any, status, text};
use serde_json::json;

use super::{Case, all_same};

fn always(code: u16) -> Case {
    Case::bidi(move |_| Scenario::new().on(any()).always().reply(status(code)))
        .env("CLAUDE_CODE_MAX_RETRIES", "1")
        .hello(json!({}))
        .say("go")
        .until("result")
        .eof()
}

#[test]
fn the_server_fails_for_ever() {
    always(500).same();
}

#[test]
fn the_rate_is_limited_for_ever() {
    always(429).same();
}

#[test]
fn the_request_is_refused() {
    // The CLI takes fields away and tries again; what is refused with our fields stays refused.
    always(400).requests_differ(6, 1).same();
}

#[test]
fn it_is_forbidden() {
    always(403).same();
}

#[test]
fn the_model_is_not_there() {
    always(404).same();
}

#[test]
fn the_server_recovers() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(status(500))
            .turn(status(529))
            .turn(text("at last"))
    })
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn the_stream_is_cut() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(text("a beginning").cut_after(0))
            .turn(text("whole"))
    })
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn the_stream_has_an_error() {
    Case::bidi(|_| Scenario::new().turn(text("a beginning").error_after(3, status(529))))
        .hello(json!({}))
        .say("go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_fallback_takes_over() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(status(529))
            .turn(status(529))
            .turn(status(529))
            .turn(text("from the fallback"))
    })
    .args(["--fallback-model=claude-sonnet-5-5"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn the_prompt_is_too_long() {
    Case::bidi(|_| {
        Scenario::new()
            .on(any())
            .always()
            .reply(status(400).message("prompt is too long: 250000 tokens > 200000 maximum"))
    })
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn the_model_refuses() {
    Case::bidi(|_| {
        Scenario::new()
            .on(any())
            .always()
            .reply(text("No.").stop_reason("refusal"))
    })
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn there_is_no_key() {
    Case::bidi(|_| Scenario::new())
        .env("ANTHROPIC_API_KEY", "")
        .hello(json!({}))
        .say("go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn the_key_is_refused() {
    // A key that is wrong once stays wrong; the CLI asks again, we say so at once.
    always(401)
        .unsaid("system/api_retry")
        .requests_differ(2, 1)
        .same();
}

#[test]
fn a_prompt_with_a_name_fails() {
    Case::bidi(|_| Scenario::new().on(any()).always().reply(status(403)))
        .hello(json!({}))
        .say_as("11111111-1111-4111-8111-111111111111", "go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn the_server_says_when_to_come_back() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(status(429).retry_after(1))
            .turn(text("at last"))
    })
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_fallback_for_a_model_that_is_not_there() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(status(404))
            .turn(text("from the fallback"))
    })
    .args(["--fallback-model=claude-sonnet-5-5"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

fn refusing_once(args: &[&str]) -> Case {
    Case::bidi(|_| {
        Scenario::new()
            .turn(text("No.").stop_reason("refusal"))
            .turn(text("No.").stop_reason("refusal"))
            .turn(text("Well."))
            .turn(text("Good."))
    })
    .args(args.iter().copied())
    .hello(json!({}))
    .say("go")
    .until("result")
    .say("again")
    .until("result")
    .eof()
}

#[test]
fn a_turn_after_a_refusal() {
    refusing_once(&[]).same();
}

#[test]
fn the_stream_has_an_error_for_readers_of_the_stream() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(text("a beginning").error_after(3, status(529)))
            .turn(text("whole"))
    })
    .args(["--include-partial-messages"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn a_fallback_for_a_model_that_is_gone_for_good() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(status(404))
            .turn(status(404))
            .turn(text("from the fallback"))
    })
    .args(["--fallback-model=claude-sonnet-5-5"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

/// For some reasons another model is asked, and for the others nobody is.
#[test]
fn refusals_by_category() {
    let refusing = |category: &'static str, model: &str| {
        let details = json!({"type": "refusal", "category": category, "explanation": "because"});
        Case::bidi(move |_| {
            let no = || text("No.").stop_reason("refusal");
            Scenario::new()
                .turn(no().stop_details(details.clone()))
                .turn(text("Well."))
        })
        .args([format!("--model={model}").as_str()])
        .hello(json!({}))
        .say("go")
        .until("result")
        .eof()
    };
    all_same([
        refusing("cyber", "claude-opus-5-5"),
        refusing("bio", "claude-opus-5-5"),
        refusing("cyber", "claude-sonnet-5-5"),
        refusing("bio", "claude-sonnet-5-5"),
        refusing("something", "claude-opus-5-5"),
    ]);
}
