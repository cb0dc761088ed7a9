//! A model on a loopback port that asks for given commands and then is done.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

const MOST_BYTES: usize = 16 << 20;
const MOST_CONNECTIONS: usize = 32;
const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// Answers until it is dropped.
pub(super) struct Responder {
    port: u16,
    heard: Arc<Notify>,
    _serving: AbortOnDropHandle<()>,
}

impl Responder {
    pub(super) async fn start(commands: &[&str]) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let calls = commands.iter().enumerate().map(|(index, command)| {
            let input = json!({"command": command, "description": "probe"});
            (format!("toolu_probe_{index}"), input.to_string())
        });
        let calls: Arc<[(String, String)]> = calls.collect();
        let heard = Arc::new(Notify::new());
        let serving = tokio::spawn(serve(listener, calls, heard.clone()));
        Ok(Self {
            port,
            heard,
            _serving: AbortOnDropHandle::new(serving),
        })
    }

    /// Waits until the engine says what became of the commands.
    pub(super) async fn has_heard_results(&self) {
        self.heard.notified().await;
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

async fn serve(listener: TcpListener, calls: Arc<[(String, String)]>, heard: Arc<Notify>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.len() >= MOST_CONNECTIONS {
            connections.join_next().await;
        }
        let (calls, heard) = (calls.clone(), heard.clone());
        connections.spawn(async move {
            let answered = answer(stream, &calls, &heard);
            // A client that breaks off asks again.
            let _ = tokio::time::timeout(REQUEST_LIMIT, answered).await;
        });
    }
}

async fn answer(
    mut stream: TcpStream,
    calls: &[(String, String)],
    heard: &Notify,
) -> io::Result<()> {
    let Some((head, body)) = read_request(&mut stream).await? else {
        return Ok(());
    };
    let (status, kind, text) = if head.starts_with("POST") && head.contains("/v1/messages") {
        if has_results(&body) {
            heard.notify_one();
        }
        ("200 OK", "text/event-stream", events(&body, calls))
    } else if head.starts_with("HEAD") {
        ("200 OK", "text/plain", String::new())
    } else {
        ("404 Not Found", "application/json", "{}".to_owned())
    };
    let length = text.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

async fn read_request(stream: &mut TcpStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = content_length(&head);
            if bytes.len() >= end + 4 + length {
                return Ok(Some((head, bytes[end + 4..].to_vec())));
            }
        }
        if bytes.len() > MOST_BYTES || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
}

fn content_length(head: &str) -> usize {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut lengths = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = lengths
        .next()
        .and_then(|(_, value)| value.trim().parse().ok());
    length.unwrap_or(0)
}

/// All results come in one request.
fn has_results(body: &[u8]) -> bool {
    memchr::memmem::find(body, b"\"tool_result\"").is_some()
}

/// Asks for the commands if they can be run and have not been, else says that it is done.
fn events(body: &[u8], calls: &[(String, String)]) -> String {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let tools = request["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let can_run = tools.iter().any(|tool| tool["name"] == "Bash");
    let mut text = String::new();
    let mut event = |kind: &str, mut data: Value| {
        data["type"] = Value::from(kind);
        text.push_str(&format!("event: {kind}\ndata: {data}\n\n"));
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = json!({"id": "msg_probe", "type": "message", "role": "assistant",
        "model": request["model"], "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": usage});
    event("message_start", json!({ "message": message }));
    let mut block = |index: usize, start: Value, delta: Value| {
        event(
            "content_block_start",
            json!({"index": index, "content_block": start}),
        );
        event(
            "content_block_delta",
            json!({"index": index, "delta": delta}),
        );
        event("content_block_stop", json!({"index": index}));
    };
    let asks = can_run && !has_results(body);
    if asks {
        for (index, (id, input)) in calls.iter().enumerate() {
            let start = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}});
            let delta = json!({"type": "input_json_delta", "partial_json": input});
            block(index, start, delta);
        }
    } else {
        let start = json!({"type": "text", "text": ""});
        block(0, start, json!({"type": "text_delta", "text": "done"}));
    }
    let reason = if asks { "tool_use" } else { "end_turn" };
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    event(
        "message_delta",
        json!({"delta": delta, "usage": {"output_tokens": 1}}),
    );
    event("message_stop", json!({}));
    text
}
