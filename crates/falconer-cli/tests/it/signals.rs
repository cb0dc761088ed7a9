//! Signals, closed pipes and silence.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command};
use std::time::{Duration, Instant};

use crate::program::{Place, finish, run, start};

const TALK: [&str; 4] = [
    "--output-format=stream-json",
    "--verbose",
    "--input-format=stream-json",
    "--allowedTools=Bash",
];
const SLEEPER: &str = r#"{ "rules": [ { "reply": { "message": { "content": [ { "type": "tool_use",
    "name": "Bash", "input": { "command": "echo $$ > pid; sleep 600" } } ] } } } ] }"#;
const USER: &str = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n";

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let status = Command::new("kill")
        .args(["-s", name, &pid])
        .status()
        .unwrap();
    assert!(status.success());
}

/// Waits until the tool runs; returns the process it started.
fn tool_process(place: &Place) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let pid = std::fs::read_to_string(place.path().join("work/pid")).unwrap_or_default();
        if pid.ends_with('\n') {
            return pid.trim().to_owned();
        }
        assert!(Instant::now() < deadline, "the tool did not start");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_gone(pid: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(30);
    while std::fs::exists(format!("/proc/{pid}")).unwrap() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// A session whose tool runs; stdin stays open.
fn busy(place: &Place) -> (Child, ChildStdin, String) {
    let mut child = start(place.scripted(SLEEPER).args(TALK));
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(USER.as_bytes()).unwrap();
    let pid = tool_process(place);
    (child, stdin, pid)
}

#[test]
fn sigint_tells_the_result_and_exits_with_0() {
    let place = Place::new();
    let (child, _stdin, pid) = busy(&place);
    signal(&child, "INT");
    let ran = finish(child);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let last = ran.stdout.lines().last().unwrap();
    let last: serde_json::Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["subtype"], "error_during_execution");
    assert!(is_gone(&pid));
}

#[test]
fn sigterm_kills_what_runs_and_exits_with_143() {
    let place = Place::new();
    let (child, _stdin, pid) = busy(&place);
    signal(&child, "TERM");
    let ran = finish(child);
    assert_eq!(ran.code, Some(143), "{}", ran.stderr);
    assert!(
        !ran.stdout.contains("\"type\":\"result\""),
        "{}",
        ran.stdout
    );
    assert!(is_gone(&pid));
}

#[test]
fn an_idle_session_ends_on_either_signal() {
    for (name, code) in [("INT", 0), ("TERM", 143)] {
        let place = Place::new();
        let mut child = start(place.scripted(SLEEPER).args(TALK));
        let mut stdin = child.stdin.take().unwrap();
        let hello = "{\"type\":\"control_request\",\"request_id\":\"1\",\
                     \"request\":{\"subtype\":\"initialize\"}}\n";
        stdin.write_all(hello.as_bytes()).unwrap();
        // Its answer shows that the signals are listened to.
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut reply = String::new();
        stdout.read_line(&mut reply).unwrap();
        assert!(reply.contains("control_response"), "{reply}");
        signal(&child, name);
        assert_eq!(finish(child).code, Some(code), "{name}");
    }
}

#[test]
fn a_reader_that_leaves_does_not_end_the_session() {
    let place = Place::new();
    let scenario = r#"{ "rules": [ { "reply": { "message": { "content": [ { "type": "tool_use",
        "name": "Bash", "input": { "command": "echo done > done" } } ] } } },
        { "reply": { "text": "ok" } } ] }"#;
    let mut child = start(place.scripted(scenario).args(TALK));
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(USER.as_bytes()).unwrap();
    drop(stdin);
    assert_eq!(finish(child).code, Some(0));
    assert!(place.path().join("work/done").exists());
}

#[test]
fn a_silent_stdin_is_waited_for_three_seconds() {
    let place = Place::new();
    let hello = r#"{ "rules": [ { "reply": { "text": "hello" } } ] }"#;
    let mut child = start(place.scripted(hello).args(["-p", "hi"]));
    let _open = child.stdin.take();
    let ran = finish(child);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hello\n"));
    assert!(
        ran.stderr.contains("no stdin data received in 3s"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_line_without_end_is_cut_off() {
    let place = Place::new();
    let mut child = start(place.scripted(SLEEPER).args(TALK));
    let mut stdin = child.stdin.take().unwrap();
    let block = vec![b'x'; 4 << 20];
    for _ in 0..65 {
        // It may have given up before the last one.
        if stdin.write_all(&block).is_err() {
            break;
        }
    }
    drop(stdin);
    let ran = finish(child);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("over 256M characters"),
        "{}",
        ran.stderr
    );
    let ran = run(place.claude().arg("-v"), "");
    assert_eq!(ran.code, Some(0));
}
