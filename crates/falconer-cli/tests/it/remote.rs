//! `falconer attach` and `falconer approve` against a server that speaks as ours does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::program::{Place, run};
use crate::terminal::Terminal;

/// Answers by a table of paths, and tells what was posted.
struct Server {
    url: String,
    posted: mpsc::Receiver<(String, Value)>,
}

fn event(seq: u64, kind: &str, data: &Value) -> String {
    let event = json!({ "seq": seq, "time": "2026-01-01T00:00:00Z", "session": "s1", "run": "r",
        "source": "agent", "type": kind, "data": data });
    format!("id: {seq}\nevent: event\ndata: {event}\n\n")
}

fn request() -> Value {
    json!({ "id": "r/1", "session": "s1", "kind": "permission", "tool": "Bash", "state": "pending",
        "input": { "command": "git push" }, "digest": "abc", "suggestions": [
            { "type": "addRules", "behavior": "allow", "destination": "localSettings",
              "rules": [{ "toolName": "Bash", "ruleContent": "git push:*" }] } ] })
}

fn stream() -> String {
    let hello =
        json!({ "resume": "fresh", "after": 0, "head": 2, "pending": [request()], "queue": [] });
    let message = json!({ "id": "m", "content": { "type": "message", "text": "Shall I push?" } });
    let asked = json!({ "id": "r/1", "tool_use_id": "t", "tool": "Bash", "digest": "abc",
        "input": { "command": "git push" }, "suggestions": request()["suggestions"] });
    format!("event: hello\ndata: {hello}\n\n")
        + &event(1, "item.completed", &message)
        + &event(2, "permission.requested", &asked)
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, posted) = mpsc::channel();
        // Ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                std::thread::spawn(move || serve(&stream, &sender));
            }
        });
        Self { url, posted }
    }
}

fn serve(stream: &TcpStream, posted: &mpsc::Sender<(String, Value)>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut out = stream.try_clone().ok()?;
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let (mut length, mut has_token) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().ok()?;
        }
        has_token |= line == "authorization: bearer flc_right";
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    if !body.is_empty() {
        let _ = posted.send((path.clone(), serde_json::from_slice(&body).ok()?));
    }
    let (status, answer) = match path.as_str() {
        _ if !has_token => ("401 Unauthorized", json!({ "detail": "no such token" })),
        "/v1/requests?state=pending" => ("200 OK", json!({ "requests": [request()] })),
        "/v1/requests/r%2F1" => ("200 OK", request()),
        "/v1/requests/r%2F2" => ("410 Gone", json!({ "detail": "the request has expired" })),
        "/v1/requests/r%2F1/answer" => ("200 OK", json!({ "request": request() })),
        "/v1/sessions/s1" => ("200 OK", json!({ "id": "s1", "cwd": "/", "head": 2 })),
        "/v1/sessions/s1/messages" => ("202 Accepted", json!({})),
        "/v1/sessions/s1/stream?after=0" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            write!(out, "{head}{}", self::stream()).ok()?;
            // The stream stays open until the client leaves.
            let _ = reader.read(&mut [0; 1]);
            return Some(());
        }
        _ => ("404 Not Found", json!({ "title": "not found" })),
    };
    let answer = answer.to_string();
    let length = answer.len();
    write!(
        out,
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{answer}"
    )
    .ok()
}

fn approve(server: &Server, arguments: &[&str], token: &str) -> crate::program::Ran {
    let place = Place::new();
    let mut command = place.falconer();
    command
        .arg("approve")
        .args(arguments)
        .args(["--server", &server.url])
        .env("FALCONER_TOKEN", token);
    run(&mut command, "")
}

#[test]
fn what_waits_is_listed_and_answered_about_what_was_shown() {
    let server = Server::start();
    let listed = approve(&server, &[], "flc_right");
    assert!(
        listed.stdout.contains("r/1  s1  Bash"),
        "{}{}",
        listed.stdout,
        listed.stderr
    );
    let json = approve(&server, &["--list", "--json"], "flc_right").stdout;
    assert_eq!(
        serde_json::from_str::<Value>(&json).unwrap()[0]["id"],
        "r/1"
    );
    let table = [
        ("yes", json!({ "type": "allow" })),
        (
            "no not now",
            json!({ "type": "deny", "message": "the user said no: not now" }),
        ),
        (
            "always",
            json!({ "type": "allow_always",
            "rule": { "text": "Bash(git push:*)", "scope": "project" } }),
        ),
        (
            "edit git status",
            json!({ "type": "allow_edited", "input": { "command": "git status" } }),
        ),
    ];
    for (answer, verdict) in table {
        let ran = approve(&server, &["r/1", answer], "flc_right");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let (path, body) = server.posted.recv().unwrap();
        assert_eq!(path, "/v1/requests/r%2F1/answer");
        assert_eq!(body, json!({ "digest": "abc", "verdict": verdict }));
    }
    assert_eq!(
        approve(&server, &["r/1", "perhaps"], "flc_right").code,
        Some(2)
    );
}

#[test]
fn what_the_server_refuses_is_told_with_a_code() {
    let server = Server::start();
    let table = [
        ("r/1", "flc_wrong", 3, "no such token"),
        ("r/2", "flc_right", 6, "has expired"),
    ];
    for (id, token, code, text) in table {
        let ran = approve(&server, &[id, "yes"], token);
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        assert!(
            ran.stderr.contains(text) && ran.stderr.contains("hint: "),
            "{}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("flc_"), "{}", ran.stderr);
    }
    let none = run(
        Place::new()
            .falconer()
            .args(["approve", "--server", &server.url]),
        "",
    );
    assert_eq!(none.code, Some(3), "{}", none.stderr);
    assert!(none.stderr.contains("FALCONER_TOKEN"), "{}", none.stderr);
}

#[test]
fn an_attached_session_is_shown_answered_and_talked_with() {
    let server = Server::start();
    let place = Place::new();
    let arguments = format!("attach s1 --server {}", server.url);
    let variables = [("FALCONER_TOKEN", "flc_right")];
    let mut terminal = Terminal::start(&place, &arguments, &variables);
    terminal.expect("Shall I push?");
    terminal.expect("git push");
    terminal.expect("run this? ");
    terminal.type_in("and the tags\r");
    let (path, body) = server.posted.recv().unwrap();
    assert_eq!(
        (path.as_str(), &body["text"]),
        ("/v1/sessions/s1/messages", &json!("and the tags"))
    );
    terminal.type_in("y\r");
    let (path, body) = server.posted.recv().unwrap();
    assert_eq!(path, "/v1/requests/r%2F1/answer");
    assert_eq!(
        body,
        json!({ "digest": "abc", "verdict": { "type": "allow" } })
    );
    terminal.type_in("/quit\r");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.seen);
}

#[test]
fn in_a_pipe_what_there_is_is_shown_and_nothing_waits() {
    let server = Server::start();
    let place = Place::new();
    let mut command = place.falconer();
    command
        .args(["attach", "s1", "--server", &server.url])
        .env("FALCONER_TOKEN", "flc_right");
    let ran = run(&mut command, "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("Shall I push?"), "{}", ran.stdout);
}
