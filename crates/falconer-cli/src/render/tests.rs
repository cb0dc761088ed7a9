//! Whole sessions, as they look without colour.

use falconer_event::{Body, Event};
use serde_json::{Value, json};

use super::*;

fn event(kind: &str, data: &Value) -> Event {
    let event = json!({ "seq": 1, "time": "2026-01-01T00:00:00Z", "session": "s", "run": "r",
        "source": "agent", "type": kind, "data": data });
    serde_json::from_value(event).unwrap()
}

fn shown(events: &[Event]) -> String {
    let mut screen = Screen::new(anstream::StripStream::new(Vec::new()), "/project");
    for event in events {
        screen.event(event).unwrap();
    }
    screen.gap().unwrap();
    String::from_utf8(screen.out.into_inner()).unwrap()
}

fn message(kind: &str, text: &str) -> Event {
    event(
        kind,
        &json!({ "id": "m", "content": { "type": "message", "text": text } }),
    )
}

fn delta(offset: u64, text: &str) -> Event {
    event(
        "item.delta",
        &json!({ "id": "m", "offset": offset, "text": text }),
    )
}

fn action(kind: &str, tool: &str, input: &Value, status: &str, result: &str) -> Event {
    let preview = Preview::of(result);
    event(
        kind,
        &json!({ "id": tool, "content": { "type": "action", "kind": "tool", "title": "t",
        "tool": tool, "input": input, "status": status, "result": preview } }),
    )
}

fn call(tool: &str, input: &Value, status: &str, result: &str) -> [Event; 2] {
    [
        action("item.started", tool, input, "running", ""),
        action("item.completed", tool, input, status, result),
    ]
}

#[test]
fn a_text_is_shown_once_and_whole_however_it_comes() {
    let check = |deltas: &[Event]| {
        let mut events = vec![message("item.started", "")];
        events.extend_from_slice(deltas);
        events.push(message("item.completed", "Äpfel und Birnen."));
        assert_eq!(shown(&events).trim(), "Äpfel und Birnen.", "{deltas:?}");
    };
    check(&[]);
    check(&[delta(0, "Äpfel "), delta(6, "und Birnen.")]);
    // The text so far comes again with every connection.
    check(&[
        delta(0, "Äpfel "),
        delta(0, "Äpfel und"),
        delta(9, " Birnen."),
    ]);
    check(&[delta(0, "Äpfel und"), delta(0, "Äpfel")]);
    // Whoever misses the beginning, or a piece, gets the rest with the whole.
    check(&[delta(6, "und")]);
    check(&[delta(0, "Äp"), delta(6, "und Birnen.")]);
}

#[test]
fn a_session_reads_well_without_colour() {
    let mut events = vec![
        event(
            "run.started",
            &json!({ "engine": "native", "native_session": "s", "model": "m",
            "cwd": "/project", "auth": "variable X", "billing": "api" }),
        ),
        event("turn.started", &json!({})),
        message("item.started", ""),
        delta(0, "Let me **lo"),
        delta(11, "ok**."),
        message("item.completed", "Let me **look**."),
    ];
    let calls = [
        call(
            "Read",
            &json!({ "file_path": "/project/src/a.sh" }),
            "ok",
            "1\tone\n2\ttwo\n",
        ),
        call(
            "Edit",
            &json!({ "file_path": "/etc/b", "old_string": "a\nb", "new_string": "a\nc" }),
            "ok",
            "updated",
        ),
        call(
            "Bash",
            &json!({ "command": "sh test.sh\necho" }),
            "ok",
            "1\n2\n3\n4\n5\n6\n7\n8\n",
        ),
        call(
            "Grep",
            &json!({ "pattern": "x" }),
            "failed",
            "no such directory\nmore",
        ),
        call(
            "mcp__sky__weather",
            &json!({ "city": "Vienna" }),
            "ok",
            "sunny",
        ),
    ];
    events.extend(calls.into_iter().flatten());
    events.push(message("item.completed", "All `good`."));
    events.push(event(
        "turn.completed",
        &json!({ "ok": true, "text": "All good.",
        "tokens": { "input": 10, "output": 7, "cache_read": 5, "cache_write": 0 },
        "total_cost_usd": 0.01239, "model_turns": 6, "duration_ms": 2345.0,
        "api_duration_ms": 1.0 }),
    ));
    events.push(event(
        "run.completed",
        &json!({ "outcome": "ok", "text": "All good.",
        "native_session": "abc", "turns": 1, "cost_usd": 0.01239,
        "tokens": { "input": 10, "output": 7, "cache_read": 5, "cache_write": 0 } }),
    ));
    let text = shown(&events);
    assert_eq!(
        text,
        "native · m · variable X · billed: api

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
continue with `falconer chat --resume abc`

"
    );
}

#[test]
fn a_failed_run_says_why_and_shows_the_end_of_stderr() {
    let text = shown(&[event(
        "run.completed",
        &json!({ "outcome": "failed", "text": "",
        "failure": { "class": "engine_ended", "text": "the engine\u{1b}[2J ended" },
        "stderr": ["one", "two"], "turns": 0, "cost_usd": 0.0,
        "tokens": { "input": 0, "output": 0, "cache_read": 0, "cache_write": 0 } }),
    )]);
    assert!(
        text.starts_with("✗ the engine[2J ended\n  one\n  two\nfailed in 0.0 s"),
        "{text}"
    );
    assert!(text.contains("engine_ended"), "{text}");
}

#[test]
fn a_failed_command_shows_what_it_printed() {
    let said = "Exit code 2\nmain.c: no such file\nstop";
    let text = shown(&call("Bash", &json!({"command": "make"}), "failed", said));
    let expected = "▸ Bash  make\n  ✗ Exit code 2\n  │ main.c: no such file\n  │ stop\n\n";
    assert_eq!(text, expected);
}

#[test]
fn a_failed_run_says_what_to_do() {
    let data = json!({ "outcome": "failed", "text": "", "turns": 0, "cost_usd": 0.0,
        "failure": { "class": "api_error", "kind": "billing", "text": "no credit", "hint": "pay" },
        "tokens": { "input": 0, "output": 0, "cache_read": 0, "cache_write": 0 } });
    let text = shown(&[event("run.completed", &data)]);
    assert!(
        text.starts_with("✗ no credit\n  hint: pay\nfailed in"),
        "{text}"
    );
}

#[test]
fn a_limit_says_when_it_resets() {
    let limit = json!({"kind": "five_hour", "reached": true, "class": "quota", "resets_at": 0.0, "text": "x"});
    let text = shown(&[event("limit", &limit)]);
    assert!(
        text.starts_with("! quota five_hour reached; resets at 19"),
        "{text}"
    );
}

#[test]
fn a_call_that_was_shown_by_its_question_is_not_shown_again() {
    let mut screen = Screen::new(anstream::StripStream::new(Vec::new()), "/project");
    let input = json!({ "command": "ls" });
    screen.ensure_call("Bash", "Bash", &input).unwrap();
    let [started, _] = call("Bash", &input, "ok", "");
    screen.event(&started).unwrap();
    screen.ensure_call("Bash", "Bash", &input).unwrap();
    let text = String::from_utf8(screen.out.into_inner()).unwrap();
    assert_eq!(text, "▸ Bash  ls\n");
}

#[test]
fn quiet_shows_questions_only() {
    let out = anstream::StripStream::new(Vec::new());
    let mut screen = Screen::new(out, "/project").detail(Detail::Questions);
    screen.event(&message("item.completed", "words")).unwrap();
    assert!(matches!(
        message("item.completed", "words").body,
        Body::ItemCompleted(_)
    ));
    assert_eq!(screen.out.into_inner(), b"");
}
