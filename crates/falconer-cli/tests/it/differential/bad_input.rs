//! Lines on stdin that are not what they should be.

use falconer_testkit::scenario::{Scenario, any, text};
use serde_json::json;

use super::{Case, all_same};

/// A line between the hello and a prompt.
fn line(line: &str) -> Case {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
        .hello(json!({}))
        .raw(line)
        .say("hi")
        .until("result")
        .eof()
}

#[test]
fn no_json() {
    line("this is no JSON").same();
}

#[test]
fn a_scalar() {
    line("42").same();
}

#[test]
fn a_blank_line() {
    line("").same();
}

#[test]
fn an_unknown_type() {
    line(r#"{"type":"surprise"}"#).same();
}

#[test]
fn no_type() {
    line(r#"{"hello":"world"}"#).same();
}

#[test]
fn a_prompt_without_a_message() {
    line(r#"{"type":"user"}"#).same();
}

#[test]
fn a_prompt_of_somebody_else() {
    line(r#"{"type":"user","message":{"role":"assistant","content":"hi"}}"#).same();
}

#[test]
fn a_request_without_a_request() {
    line(r#"{"type":"control_request","request_id":"x"}"#).same();
}

#[test]
fn a_request_without_an_id() {
    line(r#"{"type":"control_request","request":{"subtype":"interrupt"}}"#).same();
}

#[test]
fn an_answer_nobody_waits_for() {
    line(r#"{"type":"control_response","response":{"subtype":"success","request_id":"none","response":{}}}"#).same();
}

#[test]
fn a_cancel_of_nothing() {
    line(r#"{"type":"control_cancel_request","request_id":"none"}"#).same();
}

#[test]
fn a_sign_of_life() {
    line(r#"{"type":"keep_alive"}"#).same();
}

#[test]
fn the_input_ends_before_it_began() {
    Case::bidi(|_| Scenario::new()).eof().same();
}

#[test]
fn the_input_ends_at_once_after_the_prompt() {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
        .say("hi")
        .eof()
        .same();
}

#[test]
fn the_first_line_must_be_the_hello_if_it_was_promised() {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
        .args(["--await-initialize"])
        .say("hi")
        .until("result")
        .eof()
        .same();
}

#[test]
fn the_last_line_has_no_end() {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
        .hello(json!({}))
        .tail(r#"{"type":"user","message":{"role":"user","content":"hi"}}"#)
        .same();
}

#[test]
fn the_last_line_is_half_a_line() {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
        .hello(json!({}))
        .say("hi")
        .until("result")
        .tail(r#"{"type":"user","mess"#)
        .same();
}

#[test]
fn pictures() {
    let picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}});
    let content = json!([{"type": "text", "text": "what is it?"}, image]);
    Case::bidi(|_| Scenario::new().turn(text("A dot.")))
        .args(["--replay-user-messages"])
        .hello(json!({}))
        .send(&json!({"type": "user", "message": {"role": "user", "content": content}}))
        .until("result")
        .eof()
        .same();
}

#[test]
fn contents_that_are_not_text() {
    all_same([
        json!(""),
        json!([]),
        json!(null),
        json!(7),
            json!(true),
            json!({"type": "text", "text": "hi"}),
        json!([{"type": "text", "text": ""}]),
        json!([{"type": "surprise", "x": 1}, {"type": "text", "text": "hi"}]),
        json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "broken"}}]),
    ].map(|content| {
        Case::bidi(|_| Scenario::new().turn(text("Hello.")))
            .hello(json!({}))
            .send(&json!({"type": "user", "message": {"role": "user", "content": content}}))
            .eof()
    }));
}

#[test]
fn lines_that_are_passed_over() {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
        .hello(json!({}))
        .raw("[]")
        .raw("\"text\"")
        .raw("   ")
        .raw(r#"{"type":"system","subtype":"init"}"#)
        .raw(r#"{"type":"assistant","message":{"role":"assistant","content":[]}}"#)
        .raw(r#"{"type":"control_response"}"#)
        .raw(r#"{"type":"control_request","request_id":7,"request":{"subtype":"get_binary_version"}}"#)
        .raw(r#"{"type":"control_request","request_id":"a","request":{}}"#)
        .raw(r#"{"type":"control_request","request_id":"b","request":{"subtype":7}}"#)
        .say("hi")
        .until("result")
        .eof()
        .same();
}

#[test]
fn null_is_no_line() {
    line("null").same();
}

#[test]
fn a_request_that_is_no_object() {
    line(r#"{"type":"control_request","request_id":"x","request":"text"}"#).same();
}

#[test]
fn a_line_with_odd_characters() {
    let odd = r#"{"type":"user","message":{"role":"user","content":"\ud800 \u2028 \u0000"}}"#;
    Case::bidi(|_| Scenario::new().on(any()).always().reply(text("Hello.")))
        .hello(json!({}))
        .raw(odd)
        .until("result")
        .say("hi")
        .until("result")
        .eof()
        .same();
}
