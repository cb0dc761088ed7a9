//! The scripted server over plain HTTP.

use std::time::Duration;

use anyhow::Result;
use falconer_testkit::ApiServer;
use falconer_testkit::scenario::{
    RequestKind, Scenario, StreamFault, any, garbage, hang, hold, reset, status, text, thinking,
    tool_use,
};
use serde_json::{Value, json};

use crate::http::{post, request};

const MESSAGES: &str = "/v1/messages?beta=true";

fn body(stream: bool) -> Value {
    json!({"model": "m", "max_tokens": 9, "stream": stream,
           "messages": [{"role": "user", "content": "hi"}]})
}

#[tokio::test]
async fn a_stream_has_the_bytes_of_the_real_api() -> Result<()> {
    let server = ApiServer::start(Scenario::new().turn(text("hello")))?;
    let response = post(server.address(), MESSAGES, &body(true)).await?;
    assert!(response.head.contains("content-type: text/event-stream"));
    let expected = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_scripted_0001","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":10,"output_tokens":5,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}

event: message_stop
data: {"type":"message_stop"}

"#;
    assert_eq!(response.body, expected);
    assert!(response.complete);
    Ok(())
}

#[tokio::test]
async fn blocks_are_streamed_in_deltas_that_add_up() -> Result<()> {
    let reply = thinking("deep thought")
        .text("grüße")
        .tool_use_as("toolu_1", "Bash", json!({"command": "ls -l"}))
        .raw(json!({"type": "redacted_thinking", "data": "x"}))
        .delta_chars(4)
        .chunk_bytes(7);
    let server = ApiServer::start(Scenario::new().on(any()).times(2).reply(reply))?;
    let response = post(server.address(), MESSAGES, &body(true)).await?;
    let mut blocks: Vec<Value> = Vec::new();
    let mut parts = [const { String::new() }; 4];
    for (_, event) in response.events() {
        let index = event["index"].as_u64().unwrap_or(0) as usize;
        if event["type"] == "content_block_start" {
            blocks.push(event["content_block"]["type"].clone());
        }
        for key in ["thinking", "text", "partial_json"] {
            parts[index].push_str(event["delta"][key].as_str().unwrap_or_default());
        }
    }
    assert_eq!(
        blocks,
        ["thinking", "text", "tool_use", "redacted_thinking"]
    );
    assert_eq!(
        parts[..3],
        ["deep thought", "grüße", r#"{"command":"ls -l"}"#]
    );

    let whole = post(server.address(), MESSAGES, &body(false)).await?.json();
    assert_eq!(whole["stop_reason"], "tool_use");
    assert_eq!(
        whole["content"],
        json!([
            {"type": "thinking", "thinking": "deep thought", "signature": ""},
            {"type": "text", "text": "grüße"},
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls -l"}},
            {"type": "redacted_thinking", "data": "x"},
        ])
    );
    Ok(())
}

#[tokio::test]
async fn errors_carry_status_type_and_retry_after() -> Result<()> {
    let error = status(429).retry_after(7).header("x-more", "yes");
    let server = ApiServer::start(Scenario::new().turn(error))?;
    let response = post(server.address(), MESSAGES, &body(true)).await?;
    assert_eq!(response.status, 429);
    assert!(response.head.contains("retry-after: 7"));
    assert!(response.head.contains("x-more: yes"));
    let expected = json!({"type": "rate_limit_error", "message": "rate limit error"});
    assert_eq!(response.json()["error"], expected);
    Ok(())
}

#[tokio::test]
async fn a_stream_breaks_as_the_scenario_says() -> Result<()> {
    let scenario = Scenario::new()
        .turn(text("hello").cut_after(3))
        .turn(text("hello").error_after(4, status(529)))
        .turn(text("hello").fault(StreamFault::Garbage {
            after: 2,
            text: "garbage here\n\n".into(),
        }));
    let server = ApiServer::start(scenario)?;
    let cut = post(server.address(), MESSAGES, &body(true)).await?;
    assert_eq!(
        cut.names(),
        ["message_start", "ping", "content_block_start"]
    );
    assert!(!cut.complete, "the body has no end");

    let error = post(server.address(), MESSAGES, &body(true)).await?;
    let (name, data) = error.events().pop().expect("an event");
    assert_eq!(name, "error");
    assert_eq!(data["error"]["type"], "overloaded_error");
    assert_eq!(error.events().len(), 5);

    let bad = post(server.address(), MESSAGES, &body(true)).await?;
    assert!(
        bad.body
            .contains("{\"type\":\"ping\"}\n\ngarbage here\n\nevent: content_block_start")
    );
    assert!(bad.complete);
    Ok(())
}

#[tokio::test]
async fn a_reset_ends_the_connection_without_a_byte() -> Result<()> {
    let server = ApiServer::start(Scenario::new().turn(reset()).turn(garbage("%%%")))?;
    let error = post(server.address(), MESSAGES, &body(true))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    let response = post(server.address(), MESSAGES, &body(true)).await?;
    assert_eq!((response.status, response.body.as_str()), (200, "%%%"));
    Ok(())
}

#[tokio::test]
async fn a_held_reply_waits_for_its_release() -> Result<()> {
    let reply = text("one ").hold("gate").text("two");
    let server = ApiServer::start(Scenario::new().turn(reply))?;
    let address = server.address();
    let asking = tokio::spawn(async move { post(address, MESSAGES, &body(true)).await });
    server.wait_held("gate").await?;
    assert!(!asking.is_finished());
    server.release("gate");
    let response = asking.await??;
    let deltas: Vec<Value> = response
        .events()
        .into_iter()
        .filter(|(name, _)| name == "content_block_delta")
        .map(|(_, event)| event["delta"]["text"].clone())
        .collect();
    assert_eq!(deltas, ["one ", "two"], "one block, paused inside");
    assert_eq!(
        response
            .names()
            .iter()
            .filter(|n| *n == "content_block_start")
            .count(),
        1
    );
    Ok(())
}

#[tokio::test]
async fn a_reply_that_begins_with_a_hold_sends_nothing_before() -> Result<()> {
    let server = ApiServer::start(Scenario::new().turn(hold("gate").text("late")).turn(hang()))?;
    let address = server.address();
    for gate in ["gate", "hang"] {
        let asking = tokio::spawn(async move { post(address, MESSAGES, &body(true)).await });
        server.wait_held(gate).await?;
        assert!(!asking.is_finished());
        server.release(gate);
        assert_eq!(asking.await?.is_ok(), gate == "gate");
    }
    Ok(())
}

#[tokio::test]
async fn dropping_the_server_ends_what_it_holds() -> Result<()> {
    let server = ApiServer::start(Scenario::new().turn(hang()))?;
    let address = server.address();
    let asking = tokio::spawn(async move { post(address, MESSAGES, &body(true)).await });
    server.wait_held("hang").await?;
    drop(server);
    assert!(asking.await?.is_err());
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    Ok(())
}

#[tokio::test]
async fn pauses_take_the_time_they_say() -> Result<()> {
    let slow = text("abc")
        .delta_chars(1)
        .delay(Duration::from_millis(40))
        .delta_delay(Duration::from_millis(40));
    let server = ApiServer::start(Scenario::new().turn(slow))?;
    let start = std::time::Instant::now();
    post(server.address(), MESSAGES, &body(true)).await?;
    assert!(start.elapsed() >= Duration::from_millis(120));
    Ok(())
}

#[tokio::test]
async fn every_request_is_recorded_and_secrets_are_not_shown() -> Result<()> {
    let scenario = Scenario::new()
        .counting_tokens(42)
        .turn(tool_use("Bash", json!({})));
    let server = ApiServer::start(scenario)?;
    let address = server.address();
    assert_eq!(request(address, "HEAD", "/", "").await?.status, 200);
    let count = post(address, "/v1/messages/count_tokens?beta=true", &body(false)).await?;
    assert_eq!(count.json(), json!({"input_tokens": 42}));
    assert_eq!(
        request(address, "GET", "/v1/models", "").await?.json()["data"][0]["type"],
        "model"
    );
    post(address, MESSAGES, &body(true)).await?;
    let first = server.wait_for_request(1).await?;
    assert_eq!(first.kind, Some(RequestKind::Main));
    assert_eq!(first.query.as_deref(), Some("beta=true"));
    assert_eq!(first.body, body(true));
    assert_eq!(first.header("X-Api-Key"), Some("sk-secret"));
    assert!(!format!("{first:?}").contains("sk-secret"));
    let paths: Vec<String> = server.requests().into_iter().map(|r| r.path).collect();
    assert_eq!(
        paths,
        [
            "/",
            "/v1/messages/count_tokens",
            "/v1/models",
            "/v1/messages"
        ]
    );
    assert!(server.unmatched().is_empty());
    assert!(server.unused_rules().is_empty());
    Ok(())
}

#[tokio::test]
async fn what_the_scenario_does_not_answer_is_reported_to_both_sides() -> Result<()> {
    let server = ApiServer::start(Scenario::new())?;
    let address = server.address();
    let response = post(address, MESSAGES, &body(true)).await?;
    assert_eq!(response.status, 400);
    assert!(response.body.contains("no rule of the scenario"));
    assert_eq!(
        request(address, "GET", "/v1/nonsense", "").await?.status,
        404
    );
    let unmatched = server.unmatched();
    assert_eq!(unmatched.len(), 2);
    assert!(unmatched[0].contains("matches request 1"), "{unmatched:?}");
    assert!(unmatched[1].contains("GET /v1/nonsense"), "{unmatched:?}");
    Ok(())
}
