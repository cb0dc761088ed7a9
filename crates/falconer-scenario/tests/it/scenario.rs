//! Which rule answers which request.

use falconer_scenario::{
    ApiError, Condition, Matcher, ModelRequest, RequestKind, Scenario, Script, Step, any, header,
    last_user_contains, last_user_equals, model, not, not_streaming, nth, on_kind, status,
    streaming, system_contains, text, tool_available, tool_result_contains, tool_result_for,
};
use serde_json::{Value, json};

fn request() -> ModelRequest {
    ModelRequest::new(json!({
        "model": "claude-x",
        "stream": true,
        "max_tokens": 100,
        "system": [{"type": "text", "text": "You are a pilot."}],
        "tools": [{"name": "Bash"}, {"name": "Read"}],
        "messages": [
            {"role": "user", "content": "first words"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash"}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "plain output"},
                {"type": "tool_result", "tool_use_id": "t2",
                 "content": [{"type": "text", "text": "block output"}]},
                {"type": "text", "text": "<reminder>"},
                {"type": "text", "text": " last words "},
            ]},
            {"role": "system", "content": "a note"},
        ],
    }))
    .with_header("Anthropic-Beta", "alpha,beta")
}

#[test]
fn conditions_hold_of_the_request_they_describe() {
    let table: Vec<(Matcher, bool)> = vec![
        (any(), true),
        (nth(1), true),
        (nth(2), false),
        (last_user_contains("last"), true),
        (last_user_contains("first"), false),
        (last_user_contains("plain output"), false),
        (last_user_equals("last words"), true),
        (last_user_equals("last"), false),
        (tool_result_for("t2"), true),
        (tool_result_for("t3"), false),
        (tool_result_contains("plain"), true),
        (tool_result_contains("block"), true),
        (tool_result_contains("words"), false),
        (model("claude-x"), true),
        (model("claude"), false),
        (streaming(), true),
        (not_streaming(), false),
        (system_contains("pilot"), true),
        (system_contains("note"), false),
        (header("anthropic-beta", "beta"), true),
        (header("ANTHROPIC-BETA", ""), true),
        (header("anthropic-beta", "gamma"), false),
        (header("x-other", ""), false),
        (tool_available("Read"), true),
        (tool_available("Write"), false),
        (not(streaming()), false),
        (not(model("other")), true),
        (
            Condition::AnyOf(vec![model("no"), streaming()]).into(),
            true,
        ),
        (Condition::AnyOf(vec![]).into(), false),
        (streaming().and(model("claude-x")), true),
        (streaming().and(model("other")), false),
        (
            last_user_contains("last").and(last_user_contains("words")),
            true,
        ),
        (on_kind(RequestKind::Main), true),
        (on_kind(RequestKind::Probe), false),
    ];
    for (matcher, expected) in table {
        let matched = matcher.matches(&request(), RequestKind::Main, 1);
        assert_eq!(matched, expected, "{matcher:?}");
        let json = serde_json::to_string(&matcher).unwrap();
        let read: Matcher = serde_json::from_str(&json).unwrap();
        assert_eq!(read, matcher, "{json}");
    }
}

#[test]
fn the_first_rule_that_matches_and_is_not_used_up_answers() {
    let scenario = Scenario::new()
        .on(last_user_contains("nothing of this kind"))
        .reply(text("never"))
        .on(any())
        .times(2)
        .reply(status(500))
        .turn(text("third"))
        .on(any())
        .always()
        .reply(text("for ever"));
    let mut script = Script::new(scenario);
    let rules: Vec<_> = (0..6).map(|_| script.answer(&request()).rule).collect();
    assert_eq!(
        rules,
        [Some(1), Some(1), Some(2), Some(3), Some(3), Some(3)]
    );
    assert_eq!(script.unused(), [0]);
}

#[test]
fn a_request_without_a_rule_is_told_what_was_missing() {
    let mut script = Script::new(Scenario::new().named("demo").turn(text("once")));
    assert_eq!(script.answer(&request()).unmatched, None);
    let mut answer = script.answer(&request());
    let why = answer.unmatched.expect("unmatched");
    for part in ["`demo`", "request 2", "claude-x", "last words", "\"t1\""] {
        assert!(why.contains(part), "{part} is not in {why}");
    }
    let Some(Step::Error(error)) = answer.steps.next() else {
        panic!("not an error: {:?}", answer.steps);
    };
    assert_eq!(error.status, 400);
}

#[test]
fn side_calls_are_answered_without_using_up_rules() {
    let mut script = Script::new(Scenario::new().turn(text("main")));
    let probe = json!({"model": "m", "max_tokens": 1, "messages": []});
    let title = json!({"model": "m", "stream": true, "messages": [], "output_config": {
        "format": {"type": "json_schema", "schema": {"properties": {"title": {}}}}}});
    for (body, kind) in [(probe, RequestKind::Probe), (title, RequestKind::Title)] {
        let answer = script.answer(&ModelRequest::new(body));
        assert_eq!((answer.kind, answer.rule), (kind, None));
        assert_eq!(answer.unmatched, None);
    }
    assert_eq!(script.answer(&request()).rule, Some(0));
}

#[test]
fn a_rule_that_names_a_kind_answers_the_side_call() {
    let scenario = Scenario::new()
        .on(on_kind(RequestKind::Probe))
        .reply(status(404))
        .turn(text("main"));
    let mut script = Script::new(scenario);
    assert_eq!(script.answer(&request()).rule, Some(1));
    let probe = ModelRequest::new(json!({"max_tokens": 1, "messages": []}));
    assert_eq!(script.answer(&probe).rule, Some(0));
}

#[test]
fn the_repeat_of_a_broken_stream_gets_the_whole_reply() {
    let scenario = Scenario::new().turn(text("whole").error_after(3, status(529)));
    let mut script = Script::new(scenario);
    let broken = script.answer(&request());
    assert!(matches!(broken.steps.last(), Some(Step::Event(e)) if e["type"] == "error"));
    let mut again = request();
    again.body["stream"] = json!(false);
    let answer = script.answer(&again);
    assert_eq!(answer.kind, RequestKind::Retry);
    let steps: Vec<Step> = answer.steps.collect();
    let [Step::Message(message)] = steps.as_slice() else {
        panic!("not one message: {steps:?}");
    };
    assert_eq!(
        message["content"],
        json!([{"type": "text", "text": "whole"}])
    );
}

#[test]
fn error_types_follow_from_the_status() {
    let table = [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ];
    for (status, kind) in table {
        assert_eq!(ApiError::new(status).body()["error"]["type"], kind);
    }
    let own = status(500).kind("custom").message("words").body();
    assert_eq!(own["error"], json!({"type": "custom", "message": "words"}));
}

#[test]
fn json_and_builder_say_the_same() {
    let json = json!({"name": "both", "rules": [
        {"when": {"last_user_contains": "a", "stream": true},
         "times": "always",
         "reply": {"message": {"content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}},
            {"type": "hold", "name": "gate"}],
            "delta_chars": 3, "fault": {"cut": {"after": 4}}}}},
        {"times": 2, "reply": {"error": {"status": 429, "retry_after": 1}}},
        {"reply": "hang"},
        {"reply": {"text": "short"}},
    ]});
    let built = Scenario::new()
        .named("both")
        .on(last_user_contains("a").and(streaming()))
        .always()
        .reply(
            falconer_scenario::thinking("hm")
                .tool_use("Bash", json!({"command": "ls"}))
                .hold("gate")
                .delta_chars(3)
                .cut_after(4),
        )
        .on(any())
        .times(2)
        .reply(status(429).retry_after(1))
        .turn(falconer_scenario::hang())
        .turn(falconer_scenario::Reply::Text("short".into()));
    let read = Scenario::from_json(&json.to_string()).unwrap();
    assert_eq!(read, built);
    let written: Value = serde_json::to_value(&built).unwrap();
    assert_eq!(Scenario::from_json(&written.to_string()).unwrap(), built);
}

#[test]
fn a_mistake_in_a_scenario_is_named() {
    let table = [
        (json!({"rules": [{"reply": {"txt": "x"}}]}), "txt"),
        (
            json!({"rules": [{"when": {"last_usr": "x"}, "reply": "hang"}]}),
            "last_usr",
        ),
        (
            json!({"rules": [{"times": "often", "reply": "hang"}]}),
            "often",
        ),
        (json!({"rules": [], "extra": 1}), "extra"),
    ];
    for (json, named) in table {
        let error = Scenario::from_json(&json.to_string())
            .unwrap_err()
            .to_string();
        assert!(error.contains(named), "{named} is not in: {error}");
    }
}

#[test]
fn scenario_files_of_the_repository_are_valid() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/scenarios");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let scenario = Scenario::load(&path).unwrap();
        assert!(
            !scenario.about.is_empty(),
            "{} says what it is for",
            path.display()
        );
        names.push(scenario.name);
    }
    names.sort();
    assert_eq!(
        names,
        ["edit-and-run", "hello", "retries", "structured-output"]
    );
}
