//! A run, its recording, and the recording played.

use falconer_scenario::{hold, last_user_contains, message, reset, status, text, thinking};
use serde_json::json;

use super::*;
use crate::FailureKind;
use crate::scripted::Scripted;

fn asked(messages: Value) -> ApiRequest {
    let mut body = json!({"model": "m", "stream": true, "max_tokens": 9});
    body["messages"] = messages;
    let betas = Vec::new();
    ApiRequest {
        body: body.into(),
        betas,
    }
}

fn says(text: &str) -> ApiRequest {
    asked(json!([{"role": "user", "content": text}]))
}

/// What an answer holds and how it fails.
async fn hear(
    provider: &dyn Provider,
    request: ApiRequest,
) -> (Vec<Value>, Value, Option<FailureKind>) {
    let mut streaming = match provider.stream(request).await {
        Ok(streaming) => streaming,
        Err(failure) => return (Vec::new(), Value::Null, Some(failure.kind)),
    };
    let (mut assembler, mut blocks) = (Assembler::new(), Vec::new());
    while let Some(event) = streaming.events.next().await {
        match event {
            Ok(event) => blocks.extend(assembler.push(&event).unwrap().map(|done| done.block)),
            Err(failure) => return (blocks, Value::Null, Some(failure.kind)),
        }
    }
    let mut message = Value::Object(assembler.into_message());
    message["id"] = Value::Null;
    (blocks, message, None)
}

#[tokio::test(start_paused = true)]
async fn a_recording_plays_what_was_recorded() {
    let hologram = json!({"type": "hologram", "depth": 3});
    let cited = json!({"type": "text", "text": "t", "citations": [{"type": "x"}]});
    let scenario = Scenario::new()
        .on(last_user_contains("first"))
        .reply(
            thinking("hm")
                .text("look")
                .tool_use_as("toolu_1", "Bash", json!({"command": "ls"})),
        )
        .turn(
            message()
                .raw(hologram)
                .raw(cited)
                .text("done")
                .stop_reason("max_tokens"),
        )
        .turn(status(429).retry_after(2).message("slow"))
        .turn(reset())
        .turn(text("whole").text("half").error_after(6, status(529)))
        .turn(text("cut").text("short").cut_after(5));
    let result = json!([{"role": "user", "content": "first"}, {"role": "assistant", "content": []},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"}]}]);
    let requests = || {
        let rest = ["limited", "reset", "broken", "cut"].map(says);
        [says("first"), asked(result.clone())]
            .into_iter()
            .chain(rest)
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let recording = Recording::new(
        Arc::new(Scripted::new(scenario)),
        path.clone(),
        Redactor::default(),
    );
    let mut first = Vec::new();
    for request in requests() {
        first.push(hear(&recording, request).await);
    }
    let kinds: Vec<_> = first.iter().map(|heard| heard.2).collect();
    use FailureKind::{Connection, Overloaded, RateLimited};
    assert_eq!(
        kinds,
        [
            None,
            None,
            Some(RateLimited),
            Some(Connection),
            Some(Overloaded),
            Some(Connection)
        ]
    );
    assert_eq!(first[4].0.len(), 1, "a block before the error");

    let again = Scripted::load(&path).unwrap();
    for (request, first) in requests().zip(first) {
        assert_eq!(hear(&again, request).await, first);
    }
    assert!(again.unused().is_empty());
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing else is left"
    );
}

#[tokio::test]
async fn the_whole_message_after_a_broken_stream_is_recorded_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let scenario = Scenario::new().turn(text("whole").error_after(3, status(529)));
    let recording = Recording::new(
        Arc::new(Scripted::new(scenario)),
        path.clone(),
        Redactor::default(),
    );
    hear(&recording, says("go")).await;
    let whole = recording.whole(says("go")).await.unwrap();
    let again = Scripted::load(&path).unwrap();
    hear(&again, says("go")).await;
    assert_eq!(
        again.whole(says("go")).await.unwrap()["content"],
        whole["content"]
    );
    assert!(again.unused().is_empty());
}

#[tokio::test]
async fn an_answer_nobody_waited_for_stalls_where_it_was_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let scripted = Arc::new(Scripted::new(
        Scenario::new().turn(text("half").hold("gate").tool_use("T", json!({}))),
    ));
    let recording = Recording::new(
        Arc::clone(&scripted) as Arc<dyn Provider>,
        path.clone(),
        Redactor::default(),
    );
    let mut streaming = recording.stream(says("go")).await.unwrap();
    loop {
        tokio::select! {
            biased;
            event = streaming.events.next() => drop(event.unwrap().unwrap()),
            () = scripted.gates().reached("gate") => break,
        }
    }
    drop(streaming);
    let recorded = Scenario::load(&path).unwrap();
    let json = serde_json::to_value(&recorded.rules[0].reply).unwrap();
    assert_eq!(json["message"]["fault"], json!({"stall": {"after": 2}}));
}

#[tokio::test]
async fn a_file_that_cannot_be_written_does_not_stop_the_run() {
    let scripted = Arc::new(Scripted::new(
        Scenario::new().turn(hold("open").text("fine")),
    ));
    scripted.gates().release("open");
    let recording = Recording::new(
        scripted,
        "/nonexistent/folder/run.json".into(),
        Redactor::default(),
    );
    assert_eq!(hear(&recording, says("go")).await.0.len(), 1);
}
