//! How many messages per second are peeked at, decoded, and decoded by the obvious alternatives.
//!
//! `cargo run --release -p bench-decode [messages [case]]` in this workspace.


use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use falconer_protocol::control::ControlResponse;
use falconer_protocol::permission::PermissionResult;
use falconer_protocol::{Message, MessageKind, RawMessage, peek_kind, to_line};
use serde::Deserialize;
use serde_json::{Value, json};

const ROUNDS: usize = 7;

type Case = (&'static str, fn(&Bytes));

fn main() {
    let count = std::env::args().nth(1).and_then(|arg| arg.parse().ok());
    let lines = mix(count.unwrap_or(200_000));
    let bytes: usize = lines.iter().map(Bytes::len).sum();
    println!(
        "{} messages, {} bytes each",
        lines.len(),
        bytes / lines.len()
    );

    let cases: [Case; 7] = [
        ("peek_kind", |line| {
            black_box(peek_kind(line));
        }),
        ("RawMessage::new", |line| {
            black_box(RawMessage::new(line.clone()).expect("line"));
        }),
        ("RawMessage::decode", |line| {
            let raw = RawMessage::new(line.clone()).expect("line");
            black_box(raw.decode().expect("message"));
        }),
        ("peek, minimal struct", |line| {
            black_box(minimal_by_kind(line));
        }),
        ("minimal, internally tagged", |line| {
            black_box(serde_json::from_slice::<Tagged>(line).expect("message"));
        }),
        ("serde_json::Value", |line| {
            black_box(serde_json::from_slice::<Value>(line).expect("value"));
        }),
        ("IgnoredAny (syntax only)", |line| {
            black_box(serde_json::from_slice::<serde::de::IgnoredAny>(line).expect("json"));
        }),
    ];
    let only = std::env::args().nth(2).unwrap_or_default();
    let mut best = [f64::INFINITY; 7];
    for _ in 0..ROUNDS {
        for ((name, case), best) in cases.iter().zip(&mut best) {
            if !name.contains(&only) {
                continue;
            }
            let start = Instant::now();
            lines.iter().for_each(case);
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    for ((name, _), seconds) in cases.iter().zip(best) {
        let rate = lines.len() as f64 / seconds;
        let nanoseconds = seconds * 1e9 / lines.len() as f64;
        println!("{name:28} {:9.0} k msg/s  {nanoseconds:8.1} ns", rate / 1e3);
    }
    hot();
}

/// What one line costs when it is in the cache already, as it is behind a reader.
fn hot() {
    let line = Bytes::from(delta(0).to_string());
    each("peek_kind, hot", || {
        black_box(peek_kind(black_box(&line)));
    });
    let question = json!({"type": "control_request", "request_id": uuid(1), "request": {
        "subtype": "can_use_tool", "tool_name": "Bash", "display_name": "Bash",
        "input": {"command": "touch x"}, "tool_use_id": "toolu_01", "description": "d",
        "decision_reason_type": "workingDir", "permission_suggestions": [
            {"type": "addDirectories", "directories": ["/x"], "destination": "session"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"}]}});
    let line = Bytes::from(question.to_string());
    each("question decoded, answered", || {
        let raw = RawMessage::new(line.clone()).expect("line");
        let Ok(Message::ControlRequest(request)) = raw.decode() else {
            return;
        };
        let answer = ControlResponse::success(request.request_id, &PermissionResult::allow());
        black_box(to_line(&answer.expect("answer")).expect("line"));
    });
}

fn each(name: &str, mut case: impl FnMut()) {
    const TIMES: u32 = 20_000;
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        (0..TIMES).for_each(|_| case());
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(TIMES));
    }
    println!("{name:28} {best:29.1} ns");
}

/// 80 % text deltas, 12 % answers, 8 % tool results.
fn mix(count: usize) -> Vec<Bytes> {
    let line = |at: usize| match at % 25 {
        0..20 => delta(at),
        20..23 => assistant(at),
        _ => tool_result(at),
    };
    (0..count)
        .map(|at| serde_json::to_vec(&line(at)).expect("bytes").into())
        .collect()
}

const SESSION: &str = "b7e273aa-6ecf-4e21-b8f2-51a4ba6ebe17";

fn uuid(at: usize) -> String {
    format!("{at:08x}-6ecf-4e21-b8f2-51a4ba6ebe17")
}

fn delta(at: usize) -> Value {
    let text = "some words of an answer, as they come in from the model, ".repeat(2);
    json!({"type": "stream_event",
        "event": {"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}},
        "session_id": SESSION, "parent_tool_use_id": null, "uuid": uuid(at),
        "api_message_id": "msg_01XFDUDYJgAACzvnptvVoYEL"})
}

fn assistant(at: usize) -> Value {
    json!({"type": "assistant",
        "message": {"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [{"type": "tool_use", "id": format!("toolu_{at:024}"), "name": "Bash",
                "input": {"command": "cargo test --workspace", "description": "Run the tests"}}],
            "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 12, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 18231, "output_tokens": 1, "service_tier": "standard"}},
        "parent_tool_use_id": null, "session_id": SESSION, "uuid": uuid(at)})
}

fn tool_result(at: usize) -> Value {
    let output = "test result: ok. 12 passed; 0 failed; ".repeat(3);
    json!({"type": "user",
        "message": {"role": "user", "content": [{"tool_use_id": format!("toolu_{at:024}"),
            "type": "tool_result", "content": output, "is_error": false}]},
        "parent_tool_use_id": null, "session_id": SESSION, "uuid": uuid(at),
        "timestamp": "2026-11-15T12:00:00.000Z",
        "tool_use_result": {"stdout": output, "stderr": "", "interrupted": false,
            "isImage": false}})
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tagged {
    StreamEvent(StreamEvent),
    Assistant(Assistant),
    User(User),
}

fn minimal_by_kind(line: &[u8]) -> Tagged {
    let message = match peek_kind(line) {
        Some(MessageKind::StreamEvent) => serde_json::from_slice(line).map(Tagged::StreamEvent),
        Some(MessageKind::Assistant) => serde_json::from_slice(line).map(Tagged::Assistant),
        _ => serde_json::from_slice(line).map(Tagged::User),
    };
    message.expect("message")
}

#[derive(Deserialize)]
struct StreamEvent {
    event: Event,
    session_id: String,
    uuid: String,
    parent_tool_use_id: Option<String>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    index: u64,
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(rename = "type")]
    kind: String,
    text: String,
}

#[derive(Deserialize)]
struct Assistant {
    message: Body,
    session_id: String,
    uuid: String,
    parent_tool_use_id: Option<String>,
}

#[derive(Deserialize)]
struct User {
    message: Body,
    session_id: String,
    uuid: String,
    parent_tool_use_id: Option<String>,
    tool_use_result: Option<Value>,
}

#[derive(Deserialize)]
struct Body {
    id: Option<String>,
    model: Option<String>,
    content: Vec<Block>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    input_tokens: u64,
    output_tokens: u64,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    name: Option<String>,
    input: Option<Value>,
    tool_use_id: Option<String>,
    content: Option<String>,
    is_error: Option<bool>,
}
