//! `falconer serve` as a person starts it, used as `docs/server.md` says.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::server_process::Server;

const SCENARIO: &str = r#"{ "name": "demo", "about": "Writes a file, then says so.", "rules": [
  { "when": { "tool_result_contains": "" }, "times": "always", "reply": { "text": "It is written." } },
  { "when": { "last_user_contains": "write" }, "times": "always", "reply": { "message": { "content": [
    { "type": "tool_use", "name": "Bash", "input": { "command": "sh -c 'echo hello > hello.txt'" } } ] } } },
  { "times": "always", "reply": { "text": "Something." } } ] }"#;

fn command(place: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_falconer"));
    command
        .arg("serve")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", place)
        .env("FALCONER_STATE_DIR", place.join("state"))
        .current_dir(place.join("work"))
        .stdin(Stdio::null());
    command
}

fn start(place: &Path) -> Server {
    let mut command = command(place);
    command
        .args(["--listen", "127.0.0.1:0", "--engine-scenario"])
        .arg(place.join("demo.json"));
    Server::start(&mut command, &place.join("state"))
}

#[test]
fn a_server_is_started_used_ended_and_started_again() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    std::fs::create_dir(place.join("work")).unwrap();
    std::fs::write(place.join("demo.json"), SCENARIO).unwrap();
    let server = start(&place);
    assert!(server.link.contains("/#code="), "{}", server.link);
    assert!(!server.link.contains(&server.token));
    let mode = std::fs::metadata(place.join("state/token"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let (status, me) = server.call("GET", "/v1/me", None);
    assert_eq!((status, &me["roots"][0]), (200, &json!(place.join("work"))));
    let (_, engines) = server.call("GET", "/v1/engines", None);
    let names = engines["engines"].as_array().unwrap().iter();
    let script = names
        .clone()
        .find(|engine| engine["name"] == "script")
        .unwrap();
    assert_eq!(script["available"], true, "{engines}");

    let new = json!({"engine": "script", "cwd": place.join("work"),
        "message": {"client_msg_id": "1", "text": "write a file"}});
    let (status, session) = server.call("POST", "/v1/sessions", Some(&new));
    assert_eq!(status, 201, "{session}");
    let mut frames = server.follow(&session);
    let request = frames.event("permission.requested")["data"].clone();
    assert!(!place.join("work/hello.txt").exists());
    let path = format!("/v1/requests/{}/answer", request["id"].as_str().unwrap());
    let answer = json!({"digest": request["digest"], "verdict": {"type": "allow"}});
    assert_eq!(server.call("POST", &path, Some(&answer)).0, 200);
    let url = session["url"].as_str().unwrap().to_owned();
    frames.event("turn.completed");
    let written = std::fs::read_to_string(place.join("work/hello.txt")).unwrap();
    assert_eq!(written, "hello\n");
    let token = server.token.clone();
    server.end();

    let server = start(&place);
    assert_eq!(server.token, token, "the token stays");
    let (status, again) = server.call("GET", &url, None);
    assert_eq!((status, &again["id"]), (200, &session["id"]));
    assert_eq!(again["state"], "idle");
    // A second one on the same store is fine; it says so if the address is taken.
    let taken = command(&place)
        .args(["--listen", &server.address])
        .output()
        .unwrap();
    assert_eq!(taken.status.code(), Some(3));
    let text = String::from_utf8(taken.stderr).unwrap();
    assert!(
        text.contains("failed to listen") && text.contains("hint:"),
        "{text}"
    );
    server.end();
}

#[test]
fn a_server_for_everybody_is_refused_with_words() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    let refused = command(place.path())
        .args(["--listen", "0.0.0.0:0"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(3));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(
        text.contains("without TLS") && text.contains("--trusted-proxy"),
        "{text}"
    );
    assert!(refused.stdout.is_empty());
    assert!(
        !place.path().join("state/token").exists(),
        "no token was made"
    );
}

/// Nanoseconds that the threads of a process have been on a processor.
fn processor_time(process: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let times = threads.flatten().filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    times.sum()
}

/// The addresses at the ends of the sockets of a process, as the kernel writes them.
fn sockets(process: u32) -> Vec<[String; 2]> {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let targets = open
        .flatten()
        .filter_map(|open| std::fs::read_link(open.path()).ok());
    let names: Vec<String> = targets
        .map(|target| target.to_string_lossy().into_owned())
        .collect();
    let mut found = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = std::fs::read_to_string(format!("/proc/{process}/net/{table}"));
        let text = text.unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if names.contains(&format!("socket:[{}]", fields[9])) {
                found.push([fields[1].to_owned(), fields[2].to_owned()]);
            }
        }
    }
    found
}

#[test]
fn it_is_ready_after_little_work_and_speaks_to_nobody_else() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    std::fs::create_dir(place.join("work")).unwrap();
    std::fs::write(place.join("demo.json"), SCENARIO).unwrap();
    // Processor time: what the clock says depends on what else the machine does.
    let works = (0..3).map(|_| {
        let server = start(&place);
        assert_eq!(server.call("GET", "/ready", None).0, 200);
        processor_time(server.process())
    });
    let least = works.min().unwrap();
    assert!(least < 100_000_000, "it takes {least} ns to be ready");

    let server = start(&place);
    let new = json!({"engine": "script", "cwd": place.join("work"), "mode": "dontAsk",
        "message": {"client_msg_id": "1", "text": "say something"}});
    let session = server.made("/v1/sessions", &new);
    let mut frames = server.follow(&session);
    frames.event("turn.completed");
    let sockets = sockets(server.process());
    let is_here = |address: &String| address.starts_with("0100007F:");
    assert!(
        sockets.len() >= 2,
        "it listens and is followed: {sockets:?}"
    );
    for [own, other] in sockets {
        let listens = other.starts_with("00000000:0000");
        assert!(
            is_here(&own) && (listens || is_here(&other)),
            "{own} {other}"
        );
    }
    server.end();
}
