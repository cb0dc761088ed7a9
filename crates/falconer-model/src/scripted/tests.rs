//! The scripted model in process: the same faults as over HTTP.

use std::time::Duration;

use falconer_scenario::{
    Reply, StreamFault, garbage, hang, header, last_user_contains, reset, status, text, tool_use,
};
use futures_util::StreamExt;
use serde_json::json;

use super::*;
use crate::FailureKind;
use crate::assemble::Assembler;

fn request(said: &str) -> ApiRequest {
    ApiRequest {
        body: json!({"model": "m", "stream": true, "max_tokens": 9,
            "messages": [{"role": "user", "content": said}]})
        .into(),
        betas: vec!["one".to_owned(), "two".to_owned()],
    }
}

/// The blocks of an answer, and why it broke, if it did.
async fn play(provider: &Scripted, said: &str) -> (Vec<Value>, Option<ApiFailure>) {
    let mut streaming = match provider.stream(request(said)).await {
        Ok(streaming) => streaming,
        Err(failure) => return (Vec::new(), Some(failure)),
    };
    let mut assembler = Assembler::new();
    let mut blocks = Vec::new();
    while let Some(event) = streaming.events.next().await {
        match event {
            Ok(event) => blocks.extend(assembler.push(&event).unwrap().map(|done| done.block)),
            Err(failure) => return (blocks, Some(failure)),
        }
    }
    assert!(assembler.is_complete());
    (blocks, None)
}

#[tokio::test]
async fn it_says_what_the_scenario_says() {
    let provider = Scripted::new(
        Scenario::new()
            .on(last_user_contains("list").and(header("anthropic-beta", "one,two")))
            .reply(
                text("look")
                    .tool_use("Bash", json!({"command": "ls"}))
                    .chunk_bytes(3),
            ),
    );
    let (blocks, failure) = play(&provider, "list it").await;
    assert_eq!(failure, None);
    let call = json!({"type": "tool_use", "id": "toolu_scripted_0001", "name": "Bash", "input": {"command": "ls"}});
    assert_eq!(blocks, [json!({"type": "text", "text": "look"}), call]);
    assert!(provider.unused().is_empty());
    let (_, failure) = play(&provider, "more").await;
    let failure = failure.unwrap();
    assert_eq!(
        (failure.kind, failure.should_retry),
        (FailureKind::InvalidRequest, Some(false))
    );
    assert!(failure.message.contains("no rule"), "{failure}");
}

#[tokio::test(start_paused = true)]
async fn every_fault_has_its_kind() {
    use FailureKind::*;
    let stall = StreamFault::Stall { after: 3 };
    let noise = StreamFault::Garbage {
        after: 3,
        text: "data: {broken\n\n".into(),
    };
    let table: Vec<(Reply, FailureKind, usize)> = vec![
        (status(401).into(), Authentication, 0),
        (status(429).retry_after(3).into(), RateLimited, 0),
        (status(529).into(), Overloaded, 0),
        (status(500).into(), Server, 0),
        (reset(), Connection, 0),
        (hang(), Timeout, 0),
        (garbage("<html>"), Malformed, 0),
        (
            text("a").tool_use("T", json!({})).cut_after(6).into(),
            Connection,
            1,
        ),
        (text("a").error_after(4, status(529)).into(), Overloaded, 0),
        (text("a").fault(stall).into(), Timeout, 0),
        (text("a").fault(noise).into(), Malformed, 0),
    ];
    for (reply, kind, blocks) in table {
        let provider = Scripted::new(Scenario::new().turn(reply.clone()));
        let (seen, failure) = play(&provider, "go").await;
        assert_eq!(failure.as_ref().map(|f| f.kind), Some(kind), "{reply:?}");
        assert_eq!(seen.len(), blocks, "{reply:?}");
    }
}

#[tokio::test]
async fn after_a_broken_stream_the_whole_message_can_be_had() {
    let scenario = Scenario::new().turn(text("whole").error_after(4, status(529)));
    let provider = Scripted::new(scenario);
    assert!(play(&provider, "go").await.1.is_some());
    let message = provider.whole(request("go")).await.unwrap();
    assert_eq!(
        message["content"],
        json!([{"type": "text", "text": "whole"}])
    );
}

#[tokio::test(start_paused = true)]
async fn pauses_take_their_time_and_gates_hold() {
    let scenario = Scenario::new()
        .turn(text("slow").delay(Duration::from_secs(5)))
        .turn(tool_use("T", json!({})).hold("gate").text("after"));
    let provider = Scripted::new(scenario);
    let begun = tokio::time::Instant::now();
    assert_eq!(play(&provider, "go").await.1, None);
    assert_eq!(begun.elapsed(), Duration::from_secs(5));

    let mut streaming = provider.stream(request("go")).await.unwrap();
    let mut before = 0;
    loop {
        tokio::select! {
            biased;
            event = streaming.events.next() => { event.unwrap().unwrap(); before += 1; }
            () = provider.gates().reached("gate") => break,
        }
    }
    provider.gates().release("gate");
    let rest = streaming.events.map(Result::unwrap).count().await;
    assert!(
        before > 2 && rest > 2,
        "{before} events before the gate, {rest} after"
    );
}

#[tokio::test]
async fn tokens_are_counted_and_files_are_read() {
    let provider = Scripted::new(Scenario::new().counting_tokens(42));
    assert_eq!(provider.count_tokens(json!({}).into()).await, Ok(42));
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/scenarios/hello.json"
    );
    assert!(Scripted::load(Path::new(folder)).is_ok());
    let missing = Scripted::load(Path::new("/nonexistent/scenario.json")).unwrap_err();
    assert!(missing.to_string().contains("/nonexistent/scenario.json"));
}
