//! What is written down is what was streamed, without secrets.

use std::collections::BTreeMap;
use std::io::BufReader;

use falconer::{Options, Tool, ToolServer};
use falconer_event::{Body, Outcome};
use falconer_session::{REDACTED, Redactor, SessionSpec, replay};
use serde_json::json;

use crate::scripted::{Stage, completed};

const KNOWN: &str = "hunter2-hunter2";
const LOOKS: &str = "sk-ant-api03-abcdefghijklmnop";

fn calc() -> ToolServer {
    let add = |_: BTreeMap<String, f64>| async { "0" };
    ToolServer::new("calc").tool(Tool::new("add", "Adds", add))
}

#[tokio::test]
async fn a_transcript_is_replayed_into_the_same_events_and_holds_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let make = |spec: SessionSpec| {
        spec.until_idle()
            .transcript(&path)
            .redactor(Redactor::new([KNOWN]))
            .run("run-1")
            .options(Options::new().tool_server(calc()))
    };
    let mut stage = Stage::new(make).await;
    stage.session.send("hello").await.unwrap();
    let (uuid, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage
        .engine
        .text("m1", &format!("the keys are {KNOWN} and {LOOKS}"))
        .await;
    stage
        .engine
        .call(
            "t1",
            "Task",
            &json!({"description": "look", "prompt": KNOWN}),
        )
        .await;
    stage
        .engine
        .say(
            &json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": "t1",
            "message": {"id": "m2", "role": "assistant",
            "content": [{"type": "text", "text": "from below"}]}}),
        )
        .await;
    stage.engine.result("done", &[&uuid]).await;
    let events = stage.rest().await;
    let streamed = serde_json::to_string(&events).unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    for text in [&streamed, &written] {
        assert!(!text.contains(KNOWN) && !text.contains(LOOKS), "{text}");
        assert!(text.contains(REDACTED));
    }
    let (replayed, unreadable) = replay(BufReader::new(written.as_bytes())).unwrap();
    assert_eq!((&replayed, unreadable), (&events, 0));
    let lines: Vec<serde_json::Value> = written
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines.iter().any(|line| line["source"] == "subagent:t1"));
    let named = lines
        .iter()
        .skip_while(|line| line["type"] != "run.started");
    assert!(named.into_iter().all(|line| line["session"] == "s"));
    assert!(lines.iter().any(|line| line["raw"]["type"] == "assistant"));
    assert!(lines.iter().all(|line| line["run"] == "run-1"));
    // What belongs together can be found: a call, and what the sub-agent in it did.
    let of_call = lines.iter().filter(|line| line["correlation"] == "t1");
    assert_eq!(of_call.count(), 2);
    let started = lines.iter().find(|line| line["type"] == "run.started");
    let started = &started.unwrap()["detail"]["data"];
    assert_eq!(started["tools"], json!(["Bash"]));
    assert_eq!(started["tool_schemas"]["mcp__calc__add"]["type"], "object");
}

#[test]
fn a_half_line_at_the_end_is_passed_over() {
    let (events, unreadable) = replay(BufReader::new(&b"{\"type\":\"warn"[..])).unwrap();
    assert!(events.is_empty());
    assert_eq!(unreadable, 1);
}

#[tokio::test]
async fn a_full_disk_ends_the_transcript_and_not_the_run() {
    let make = |spec: SessionSpec| spec.until_idle().transcript("/dev/full");
    let mut stage = Stage::new(make).await;
    stage.session.send("hello").await.unwrap();
    let (uuid, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage.engine.result("done", &[&uuid]).await;
    let events = stage.rest().await;
    assert_eq!(completed(&events).outcome, Outcome::Ok);
    let told = |body: &Body| matches!(body, Body::Warning(warning) if warning.kind == "transcript");
    assert_eq!(events.iter().filter(|event| told(&event.body)).count(), 1);
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_whole_conversation_is_kept_before_it_is_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, archive) = (
        folder.path().join("whole.jsonl"),
        folder.path().join("archive"),
    );
    std::fs::write(&whole, "everything\n").unwrap();
    let mut stage = Stage::new(|spec| spec.archive(&archive)).await;
    stage
        .engine
        .say(
            &json!({"type": "control_request", "request_id": "h1", "request": {
            "subtype": "hook_callback", "callback_id": "hook_1", "input": {
            "hook_event_name": "PreCompact", "session_id": "s", "trigger": "auto",
            "transcript_path": whole}}}),
        )
        .await;
    stage.engine.answer_to("h1").await;
    let kept: Vec<_> = std::fs::read_dir(&archive)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(
        std::fs::read_to_string(kept[0].path()).unwrap(),
        "everything\n"
    );
    stage.session.close().await;
}

#[tokio::test]
async fn a_secret_in_pieces_is_never_streamed() {
    let redactor = Redactor::new([KNOWN]);
    let options = falconer::Options::new()
        .close_grace(std::time::Duration::from_millis(200))
        .include_partial_messages();
    let make = |spec: SessionSpec| spec.options(options).until_idle().redactor(redactor);
    let mut stage = Stage::new(make).await;
    stage.session.send("hello").await.unwrap();
    let (uuid, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    let stream = |event: serde_json::Value| json!({"type": "stream_event", "session_id": "s", "api_message_id": "m1", "event": event});
    let block = json!({"type": "text", "text": ""});
    let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
    stage.engine.say(&stream(start)).await;
    let whole = format!("the keys: {KNOWN} and {LOOKS}");
    for letter in whole.chars() {
        let delta = json!({"type": "text_delta", "text": letter.to_string()});
        let delta = json!({"type": "content_block_delta", "index": 0, "delta": delta});
        stage.engine.say(&stream(delta)).await;
    }
    stage.engine.text("m1", &whole).await;
    stage.engine.result(&whole, &[&uuid]).await;
    let mut streamed = String::new();
    for event in stage.rest().await {
        if let Body::ItemDelta { offset, text, .. } = event.body {
            assert_eq!(offset, streamed.chars().count() as u64);
            streamed.push_str(&text);
        }
    }
    assert_eq!(streamed, format!("the keys: {REDACTED} and {REDACTED}"));
}
