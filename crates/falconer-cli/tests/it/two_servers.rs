//! Two `falconer serve` on one store, each with a state directory of its own.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::program::{Ran, run};
use crate::server_process::{LIMIT, Server};

const SCENARIO: &str = r#"{ "name": "demo", "about": "Writes a file, then says so.", "rules": [
  { "when": { "tool_result_contains": "" }, "times": "always", "reply": { "text": "It is written." } },
  { "when": { "last_user_contains": "write" }, "times": "always", "reply": { "message": { "content": [
    { "type": "tool_use", "name": "Bash", "input": { "command": "sh -c 'echo hello >> hello.txt'" } } ] } } },
  { "times": "always", "reply": { "text": "Something." } } ] }"#;

struct Place {
    root: PathBuf,
    _kept: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let root = kept.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("work")).unwrap();
        std::fs::write(root.join("demo.json"), SCENARIO).unwrap();
        Self { root, _kept: kept }
    }

    fn command(&self, name: &str, store: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_falconer"));
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--engine-scenario"])
            .arg(self.root.join("demo.json"))
            .arg("--store")
            .arg(store)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.root)
            .env("FALCONER_STATE_DIR", self.root.join(name).join("state"))
            .current_dir(self.root.join("work"))
            .stdin(Stdio::null());
        command
    }

    fn server(&self, name: &str) -> Server {
        let mut command = self.command(name, &self.root.join("store.db"));
        Server::start(&mut command, &self.root.join(name).join("state"))
    }

    /// A server others do not wait for long.
    fn brief(&self, name: &str) -> Server {
        let mut command = self.command(name, &self.root.join("store.db"));
        command.args(["--lease", "3"]);
        Server::start(&mut command, &self.root.join(name).join("state"))
    }

    fn written(&self) -> Option<String> {
        std::fs::read_to_string(self.root.join("work/hello.txt")).ok()
    }

    /// A session that waits for an answer, and what it asks.
    fn waiting(&self, server: &Server) -> (Value, Value) {
        let new = json!({"engine": "script", "cwd": self.root.join("work"),
            "message": {"client_msg_id": "1", "text": "write a file"}});
        let session = server.made("/v1/sessions", &new);
        let request = server.follow(&session).event("permission.requested");
        (session, request["data"].clone())
    }
}

fn path(session: &Value, rest: &str) -> String {
    format!("{}{rest}", session["url"].as_str().unwrap())
}

fn state(server: &Server, session: &Value) -> Value {
    server.call("GET", &path(session, ""), None).1["state"].clone()
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn allow(server: &Server, request: &Value) -> u16 {
    let path = format!("/v1/requests/{}/answer", request["id"].as_str().unwrap());
    let answer = json!({"digest": request["digest"], "verdict": {"type": "allow"}});
    server.call("POST", &path, Some(&answer)).0
}

fn events(server: &Server, session: &Value) -> Vec<Value> {
    let (status, page) = server.call("GET", &path(session, "/events"), None);
    assert_eq!(status, 200, "{page}");
    page["events"].as_array().unwrap().clone()
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["type"] == kind).count()
}

fn signal(server: &Server, signal: Signal) {
    let id = Pid::from_raw(i32::try_from(server.process()).unwrap()).unwrap();
    kill_process(id, signal).unwrap();
}

#[test]
fn a_second_server_leaves_a_live_session_alone() {
    let place = Place::new();
    let owner = place.brief("one");
    let (session, request) = place.waiting(&owner);
    // It looks at what others left before it says where it listens, and every second after that.
    let second = place.brief("two");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        assert_eq!(state(&second, &session), "waiting");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(allow(&second, &request), 200, "an answer is carried");
    owner.follow(&session).event("turn.completed");
    assert_eq!(place.written().as_deref(), Some("hello\n"));
}

#[test]
fn the_wrong_server_changes_nothing_and_names_the_right_one() {
    let place = Place::new();
    let (owner, second) = (place.server("one"), place.server("two"));
    let (session, _) = place.waiting(&owner);
    let url = format!("http://{}", owner.address);
    let message = json!({"client_msg_id": "2", "text": "say something"});
    let plan = json!({"mode": "plan"});
    let asked: [(&str, &str, Option<&Value>); 7] = [
        ("PATCH", "", Some(&plan)),
        ("POST", "/messages", Some(&message)),
        ("POST", "/interrupt", None),
        ("POST", "/tasks/none/stop", None),
        ("POST", "/resume", None),
        ("POST", "/close", None),
        ("DELETE", "", None),
    ];
    for (method, rest, body) in asked {
        let (status, problem) = second.call(method, &path(&session, rest), body);
        assert_eq!(status, 409, "{method} {rest}: {problem}");
        assert_eq!(problem["code"], "session_held", "{method} {rest}");
        assert_eq!(problem["holder"]["url"], url.as_str(), "{problem}");
        assert_eq!(problem["holder"]["process"], owner.process());
        assert!(
            problem["detail"].as_str().unwrap().contains(&url),
            "{problem}"
        );
    }
    let (_, record) = second.call("GET", &path(&session, ""), None);
    assert_eq!(
        (&record["mode"], &record["state"]),
        (&json!("default"), &json!("waiting"))
    );

    // All of it works where the session runs, the message with the same id.
    let (status, record) = owner.call("PATCH", &path(&session, ""), Some(&plan));
    assert_eq!((status, &record["mode"]), (200, &json!("plan")), "{record}");
    let changed = owner.follow(&session).event("session.changed");
    assert_eq!(
        changed["data"],
        json!({"what": "mode", "to": "plan"}),
        "{changed}"
    );
    let sent = owner.made(&path(&session, "/messages"), &message);
    assert_eq!(sent["duplicate"], false, "{sent}");
    assert_eq!(
        owner.call("POST", &path(&session, "/interrupt"), None).0,
        202
    );
    owner.end();

    // Nobody has it any more: now it may be had here.
    let (status, _) = second.call("POST", &path(&session, "/resume"), None);
    assert_eq!(status, 200);
}

#[test]
fn a_killed_owner_is_replaced_exactly_once() {
    let place = Place::new();
    let owner = place.server("one");
    let (session, request) = place.waiting(&owner);
    let heirs = [place.brief("two"), place.brief("three")];
    owner.kill();
    until("nobody took the session over", || {
        state(&heirs[0], &session) == "interrupted"
    });
    assert_eq!(allow(&heirs[1], &request), 410, "what it asked is over");
    let told = events(&heirs[0], &session);
    assert_eq!(count(&told, "run.completed"), 1, "{told:?}");
    assert_eq!(count(&told, "permission.resolved"), 1, "{told:?}");
    assert_eq!(place.written(), None, "nothing is run again");
    // One of them runs it, and then the other does not.
    assert_eq!(
        heirs[1].call("POST", &path(&session, "/resume"), None).0,
        200
    );
    let (status, problem) = heirs[0].call("POST", &path(&session, "/resume"), None);
    assert_eq!((status, &problem["code"]), (409, &json!("session_held")));
}

#[test]
fn an_owner_that_slept_past_its_lease_writes_nothing() {
    let place = Place::new();
    let (sleeper, heir) = (place.brief("one"), place.brief("two"));
    let (session, request) = place.waiting(&sleeper);
    signal(&sleeper, Signal::STOP);
    until("the heir did not take the session over", || {
        state(&heir, &session) == "interrupted"
    });
    let told = events(&heir, &session);
    assert_eq!(count(&told, "run.completed"), 1, "{told:?}");
    signal(&sleeper, Signal::CONT);

    // Awake again it has neither the run nor the answer somebody had in mind.
    until("the sleeper does not notice", || {
        let (status, problem) = sleeper.call("POST", &path(&session, "/interrupt"), None);
        status == 409 && problem["code"] == "wrong_state"
    });
    assert_eq!(allow(&sleeper, &request), 410);
    assert_eq!(events(&heir, &session), told, "the sleeper wrote");
    assert_eq!(place.written(), None);

    // It goes on where it was taken, and the sleeper is a server like any other.
    let again = json!({"client_msg_id": "2", "text": "write again"});
    heir.made(&path(&session, "/messages"), &again);
    let asked = heir
        .follow_from(&session, told.len())
        .event("permission.requested");
    let (status, problem) = sleeper.call("POST", &path(&session, "/interrupt"), None);
    assert_eq!((status, &problem["code"]), (409, &json!("session_held")));
    assert_eq!(allow(&sleeper, &asked["data"]), 200, "an answer is carried");
    heir.follow_from(&session, told.len())
        .event("turn.completed");
    assert_eq!(place.written().as_deref(), Some("hello\n"));
}

/// Asks a server to go on with a session in both ways; whichever is refused changes nothing.
fn refusals(server: &Server, session: &Value, message: &Value) -> [(u16, Value); 2] {
    let asked = [("/resume", None), ("/messages", Some(message))];
    asked.map(|(rest, body)| {
        let (status, problem) = server.call("POST", &path(session, rest), body);
        (status, problem["code"].clone())
    })
}

/// Sends a message that asks, allows what it asks for, and waits for the end of its turn.
fn write_again(server: &Server, session: &Value, message: &Value) {
    let before = events(server, session).len();
    let sent = server.made(&path(session, "/messages"), message);
    assert_eq!(sent["duplicate"], false, "{sent}");
    let mut frames = server.follow_from(session, before);
    let asked = frames.event("permission.requested");
    assert_eq!(allow(server, &asked["data"]), 200);
    frames.event("turn.completed");
}

#[test]
fn a_stopped_owner_keeps_its_session_while_its_lease_lasts() {
    let place = Place::new();
    let (owner, other) = (place.server("one"), place.server("two"));
    let (session, request) = place.waiting(&owner);
    let message = json!({"client_msg_id": "2", "text": "write again"});
    signal(&owner, Signal::STOP);
    for _ in 0..5 {
        let held = (409, json!("session_held"));
        assert_eq!(
            refusals(&other, &session, &message),
            [held.clone(), held.clone()]
        );
        let (_, problem) = other.call("POST", &path(&session, "/resume"), None);
        assert_eq!(problem["holder"]["process"], owner.process(), "{problem}");
    }
    signal(&owner, Signal::CONT);

    // What was open is still open, and what was refused is not used up.
    assert_eq!(allow(&owner, &request), 200);
    owner.follow(&session).event("turn.completed");
    write_again(&owner, &session, &message);
    assert_eq!(place.written().as_deref(), Some("hello\nhello\n"));
    let told = events(&owner, &session);
    assert_eq!(count(&told, "run.completed"), 0, "{told:?}");
    assert_eq!(count(&told, "turn.completed"), 2, "{told:?}");
}

#[test]
fn a_session_of_a_stopped_owner_runs_elsewhere_once_that_is_awake() {
    let place = Place::new();
    let (sleeper, heir) = (place.brief("one"), place.brief("two"));
    let (session, _) = place.waiting(&sleeper);
    let message = json!({"client_msg_id": "2", "text": "write again"});
    signal(&sleeper, Signal::STOP);
    until("the heir did not take the session over", || {
        state(&heir, &session) == "interrupted"
    });
    let told = events(&heir, &session);
    for _ in 0..5 {
        let held = (409, json!("session_held"));
        assert_eq!(
            refusals(&heir, &session, &message),
            [held.clone(), held.clone()]
        );
        assert_eq!(state(&heir, &session), "interrupted");
    }
    assert_eq!(events(&heir, &session), told, "nothing was begun");
    signal(&sleeper, Signal::CONT);
    until("the sleeper keeps the conversation", || {
        let (status, problem) = heir.call("POST", &path(&session, "/resume"), None);
        assert!(
            status == 200 || problem["code"] == "session_held",
            "{status} {problem}"
        );
        status == 200
    });
    write_again(&heir, &session, &message);
    assert_eq!(place.written().as_deref(), Some("hello\n"));
    let told = events(&heir, &session);
    assert_eq!(count(&told, "turn.completed"), 1, "{told:?}");
}

/// A process that keeps the store for itself, as one that is stopped in the middle of a write.
struct Writer(Child);

impl Writer {
    fn of(store: &Path) -> Self {
        let python = std::env::var_os("FALCONER_PYTHON").unwrap_or_else(|| "python3".into());
        let keep = "import sqlite3, sys\n\
            store = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)\n\
            store.execute('BEGIN IMMEDIATE')\n\
            print('kept', flush=True)\n\
            sys.stdin.read()";
        let mut child = Command::new(python)
            .args(["-c", keep])
            .arg(store)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "kept\n");
        Self(child)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_owner_stopped_in_a_write_makes_the_store_unavailable() {
    let place = Place::new();
    let (sleeper, heir) = (place.brief("one"), place.brief("two"));
    let (session, _) = place.waiting(&sleeper);
    let message = json!({"client_msg_id": "2", "text": "write again"});
    let writer = Writer::of(&place.root.join("store.db"));
    signal(&sleeper, Signal::STOP);
    // Each refusal of the store takes as long as it is waited for, so it is asked once.
    until("the lease does not run out", || {
        let (status, problem) = heir.call("POST", &path(&session, "/messages"), Some(&message));
        let is_held = status == 409 && problem["code"] == "session_held";
        let is_unavailable = status == 503 && problem["code"] == "unavailable";
        assert!(is_held || is_unavailable, "{status} {problem}");
        is_unavailable
    });
    drop(writer);
    until("the heir did not take the session over", || {
        state(&heir, &session) == "interrupted"
    });
    signal(&sleeper, Signal::CONT);
    until("the sleeper keeps the conversation", || {
        heir.call("POST", &path(&session, "/resume"), None).0 == 200
    });
    write_again(&heir, &session, &message);
    assert_eq!(place.written().as_deref(), Some("hello\n"));
}

/// `falconer` on the store of the servers, as the user of the first one.
fn terminal(place: &Place, arguments: &[&str], lines: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_falconer"));
    command
        .args(arguments)
        .args(["--engine", "script", "--scenario"])
        .arg(place.root.join("demo.json"))
        .arg("--store")
        .arg(place.root.join("store.db"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &place.root)
        .env("FALCONER_STATE_DIR", place.root.join("one/state"))
        .current_dir(place.root.join("work"));
    run(&mut command, lines)
}

#[test]
fn a_run_and_a_chat_go_on_with_a_session_of_a_server_that_nobody_runs() {
    let place = Place::new();
    let server = place.server("one");
    let new = json!({"engine": "script", "cwd": place.root.join("work"),
        "message": {"client_msg_id": "1", "text": "hello"}});
    let session = server.made("/v1/sessions", &new);
    server.follow(&session).event("turn.completed");
    let id = session["id"].as_str().unwrap();
    // The server has its process: two at once would answer each other.
    let refused = terminal(&place, &["run", "hello again", "--resume", id], "");
    assert_ne!(refused.code, Some(0), "{}", refused.stdout);
    assert!(refused.stderr.contains("process "), "{}", refused.stderr);
    server.end();

    let server = place.server("one");
    let ran = terminal(&place, &["run", "hello again", "--resume", id], "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("Something."), "{}", ran.stdout);
    let talked = terminal(&place, &["chat", "--resume", id], "and again\n");
    assert_eq!(talked.code, Some(0), "{}", talked.stderr);
    until("the session is not let go", || {
        state(&server, &session) == "idle"
    });
    let told = events(&server, &session);
    assert_eq!(count(&told, "turn.completed"), 3, "{told:?}");
    let numbers: Vec<_> = told.iter().map(|event| event["seq"].as_u64()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    // And back again.
    let say = json!({"client_msg_id": "2", "text": "hello"});
    server.made(&path(&session, "/messages"), &say);
    server
        .follow_from(&session, told.len())
        .event("turn.completed");
    server.end();
}

#[test]
fn an_address_of_a_database_is_not_a_file_name() {
    let place = Place::new();
    let cases = [
        (
            "postgres://user:hunter2@db/falconer",
            "PostgreSQL is not supported",
        ),
        (
            "postgresql://user:hunter2@db/falconer",
            "PostgreSQL is not supported",
        ),
        ("mysql://user:hunter2@db/falconer", "`mysql://`"),
    ];
    for (address, words) in cases {
        let refused = place.command("one", Path::new(address)).output().unwrap();
        let text = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains(words) && text.contains("hint:"), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
    let made: Vec<_> = std::fs::read_dir(place.root.join("work"))
        .unwrap()
        .collect();
    assert!(made.is_empty(), "{made:?}");
}

#[test]
fn a_session_of_an_unknown_engine_or_with_an_unknown_field_is_not_made() {
    let place = Place::new();
    let server = place.server("one");
    let cwd = place.root.join("work");
    let cases = [
        (json!({"engine": "gpt", "cwd": cwd}), 422, "gpt"),
        (
            json!({"engine": "script", "cwd": cwd, "permission_mode": "plan"}),
            422,
            "permission_mode",
        ),
        (
            json!({"engine": "script", "cwd": cwd,
                "message": {"client_msg_id": "1", "text": "hi", "mode": "plan"}}),
            422,
            "mode",
        ),
    ];
    for (new, expected, named) in cases {
        let (status, problem) = server.call("POST", "/v1/sessions", Some(&new));
        assert_eq!(status, expected, "{problem}");
        assert!(
            problem["detail"].as_str().unwrap().contains(named),
            "{problem}"
        );
    }
    let (_, list) = server.call("GET", "/v1/sessions", None);
    assert_eq!(list["sessions"], json!([]));
}
