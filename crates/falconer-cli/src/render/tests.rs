//! Whole sessions, as they look without colour.

use falconer::RawMessage;
use serde_json::{Value, json};

use super::*;

fn shown(messages: &[Value]) -> String {
    let mut screen = Screen::new(anstream::StripStream::new(Vec::new()), "/project");
    for message in messages {
        let raw = RawMessage::new(message.to_string().into()).unwrap();
        screen.message(&raw.decode().unwrap()).unwrap();
    }
    screen.gap().unwrap();
    String::from_utf8(screen.out.into_inner()).unwrap()
}

fn delta(text: &str) -> Value {
    json!({ "type": "stream_event", "event": { "type": "content_block_delta", "index": 0,
        "delta": { "type": "text_delta", "text": text } } })
}

fn assistant(block: &Value) -> Value {
    json!({ "type": "assistant", "message": { "role": "assistant", "content": [block] } })
}

fn call(name: &str, input: &Value) -> Value {
    assistant(&json!({ "type": "tool_use", "id": name, "name": name, "input": input }))
}

fn result(name: &str, text: &str, is_error: bool) -> Value {
    json!({ "type": "user", "message": { "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": name, "content": text, "is_error": is_error } ] } })
}

#[test]
fn a_session_reads_well_without_colour() {
    let text = shown(&[
        json!({ "type": "system", "subtype": "init" }),
        delta("Let me **lo"),
        delta("ok**."),
        assistant(&json!({ "type": "text", "text": "Let me **look**." })),
        call("Read", &json!({ "file_path": "/project/src/a.sh" })),
        result("Read", "1\tone\n2\ttwo\n", false),
        call(
            "Edit",
            &json!({ "file_path": "/etc/b", "old_string": "a\nb", "new_string": "a\nc" }),
        ),
        result("Edit", "updated", false),
        call("Bash", &json!({ "command": "sh test.sh\necho" })),
        result("Bash", "1\n2\n3\n4\n5\n6\n7\n8\n", false),
        call("Grep", &json!({ "pattern": "x" })),
        result("Grep", "no such directory\nmore", true),
        call("mcp__sky__weather", &json!({ "city": "Vienna" })),
        result("mcp__sky__weather", "sunny", false),
        assistant(&json!({ "type": "text", "text": "All `good`." })),
        json!({ "type": "result", "subtype": "success", "is_error": false, "num_turns": 6,
            "duration_ms": 2345, "total_cost_usd": 0.01239, "result": "All `good`.",
            "usage": { "input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 7 } }),
    ]);
    let expected = "\
Let me look.

▸ Read  src/a.sh
  2 lines

▸ Edit  /etc/b
  - b
  + c

▸ Bash  sh test.sh
  │ … 2 more lines above
  │ 3
  │ 4
  │ 5
  │ 6
  │ 7
  │ 8

▸ Grep  x
  ✗ no such directory

▸ mcp__sky__weather  {\"city\":\"Vienna\"}
  sunny

All good.

done in 2.3 s · 6 turns · 15 tokens in, 7 out · $0.0124

";
    assert_eq!(text, expected);
}

#[test]
fn what_a_tool_or_a_model_writes_cannot_control_the_terminal() {
    let mut screen = Screen::new(Vec::new(), "/project");
    let hostile = "\u{1b}]0;title\u{7}\u{1b}[2J";
    for message in [
        delta(hostile),
        call("Bash", &json!({ "command": format!("ls {hostile}") })),
        result("Bash", hostile, false),
        result("Bash", hostile, true),
        call(
            "Write",
            &json!({ "file_path": hostile, "content": hostile }),
        ),
    ] {
        let raw = RawMessage::new(message.to_string().into()).unwrap();
        screen.message(&raw.decode().unwrap()).unwrap();
    }
    let text = String::from_utf8(screen.out).unwrap();
    assert!(
        !text.contains("\u{1b}]") && !text.contains("\u{1b}[2J"),
        "{text:?}"
    );
    assert!(!text.contains('\u{7}'));
}

#[test]
fn failures_and_retries_say_why() {
    let text = shown(&[
        json!({ "type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10,
            "retry_delay_ms": 1500, "error_status": 529 }),
        json!({ "type": "result", "subtype": "success", "is_error": true, "result": "no key" }),
    ]);
    let expected = "  … the model's service answered 529; try 1 of 10 in 1.5 s\n\n\
                    ✗ no key\nfailed $0.0000\n\n";
    assert_eq!(text, expected);
}
