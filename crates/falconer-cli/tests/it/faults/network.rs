//! The service: no key, no host, and answers that break off, stall or make no sense.

use serde_json::{Value, json};

use super::run::{Scene, Told};
use super::server::{Server, Then};

fn event(data: &Value) -> String {
    format!(
        "event: {}\ndata: {data}\n\n",
        data["type"].as_str().unwrap()
    )
}

/// The first half of an answer.
fn begun() -> String {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [],
        "model": "claude-opus-5-5", "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 3, "output_tokens": 1}});
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": "half"}}),
    ];
    events.iter().map(event).collect()
}

fn asking(server: &Server, env: &[(&str, &str)]) -> Told {
    let mut scene = Scene::new();
    for (name, value) in env {
        scene = scene.env(name, value);
    }
    let mut command = scene.place.claude();
    command
        .env("ANTHROPIC_API_KEY", "sk-ant-fake")
        .env("ANTHROPIC_BASE_URL", &server.url);
    scene.run(&mut command)
}

const ONCE: (&str, &str) = ("CLAUDE_CODE_MAX_RETRIES", "0");

#[test]
fn a_missing_key_is_told_at_once() {
    let scene = Scene::new();
    let told = scene.run(&mut scene.place.claude());
    told.failed_with("ANTHROPIC_API_KEY");
    assert_eq!(told.count("api_retry"), 0);
}

#[test]
fn a_refused_key_is_told_at_once() {
    for status in [401, 403] {
        let error = json!({"type": "error",
            "error": {"type": "authentication_error", "message": "invalid x-api-key"}});
        let server = Server::status(status, &error.to_string());
        let told = asking(&server, &[]);
        assert_eq!(told.result()["api_error_status"], status);
        told.failed_with("");
        assert_eq!(
            (server.asked(), told.count("api_retry")),
            (1, 0),
            "{status}"
        );
    }
}

#[test]
fn a_host_that_cannot_be_reached_is_retried_and_told() {
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for url in [gone.as_str(), "http://host.invalid"] {
        let scene = Scene::new().env("CLAUDE_CODE_MAX_RETRIES", "1");
        let mut command = scene.place.claude();
        command
            .env("ANTHROPIC_API_KEY", "sk-ant-fake")
            .env("ANTHROPIC_BASE_URL", url);
        let told = scene.run(&mut command);
        told.failed_with("API Error");
        assert_eq!(told.count("api_retry"), 1, "{url}");
    }
}

#[test]
fn an_answer_that_breaks_off_is_an_error_after_the_retries() {
    let server = Server::events(&begun(), Then::Close);
    let told = asking(&server, &[("CLAUDE_CODE_MAX_RETRIES", "1")]);
    told.failed_with("API Error");
    assert_eq!(server.asked(), 2);
}

#[test]
fn an_answer_that_stalls_is_given_up() {
    let idle = ("CLAUDE_STREAM_IDLE_TIMEOUT_MS", "300");
    let first = ("API_TIMEOUT_MS", "300");
    let stalled = Server::events(&begun(), Then::Stall);
    asking(&stalled, &[ONCE, idle]).failed_with("API Error");
    let silent = Server::new("", Then::Stall);
    asking(&silent, &[ONCE, first]).failed_with("API Error");
}

#[test]
fn answers_that_make_no_sense_are_errors() {
    let bad_json = format!("{}event: content_block_delta\ndata: {{nope\n\n", begun());
    let bad_index = format!(
        "{}{}",
        begun(),
        event(&json!({"type": "content_block_delta", "index": 7,
            "delta": {"type": "text_delta", "text": "x"}}))
    );
    let no_line_end = format!("data: {}", "x".repeat(1 << 20));
    let deep = format!("data: {}\n\n", "[".repeat(200_000));
    let bodies = [
        "\u{0}\u{1}\u{2} no events at all \u{fffd}".to_owned(),
        "data: [1,2,3]\n\ndata: null\n\n".to_owned(),
        "event: message_start\ndata: {\"type\":\"message_start\"}\n\n".to_owned(),
        bad_json,
        bad_index,
        no_line_end,
        deep,
    ];
    for body in bodies {
        let server = Server::events(&body, Then::Close);
        let told = asking(&server, &[ONCE]);
        assert_eq!(told.result()["is_error"], true, "{body:.80}");
        assert_eq!(told.code, 1, "{body:.80}");
    }
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<html>login</html>",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}",
        "no http at all\r\n\r\n",
        "",
    ] {
        let server = Server::new(answer, Then::Close);
        let told = asking(&server, &[ONCE]);
        assert_eq!(told.code, 1, "{answer:?}");
        told.failed_with("API Error");
    }
}

#[test]
fn an_error_that_is_no_json_is_told() {
    for body in ["{nope", "", "<html>502</html>", "[[[[", "\"text\""] {
        let server = Server::status(500, body);
        let told = asking(&server, &[ONCE]);
        told.failed_with("500");
    }
}

#[test]
fn a_call_whose_input_is_cut_off_does_not_run() {
    let events = [
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
            "role": "assistant", "content": [], "model": "claude-opus-5-5",
            "stop_reason": null, "usage": {"input_tokens": 3, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block":
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta":
            {"type": "input_json_delta", "partial_json": "{\"command\": \"touch cut.txt"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    let server = Server::events(&events.iter().map(event).collect::<String>(), Then::Close);
    let scene = Scene::new().args(["--allowedTools=Bash", "--max-turns=2"]);
    let mut command = scene.place.claude();
    command
        .env("ANTHROPIC_API_KEY", "sk-ant-fake")
        .env("ANTHROPIC_BASE_URL", &server.url);
    let told = scene.run(&mut command);
    assert_eq!(told.code, 1);
    assert_eq!(told.result()["subtype"], "error_max_turns");
    assert!(told.answers().iter().all(|(is_error, _)| *is_error));
    assert!(!scene.work("cut.txt").exists());
}
