//! Two processes and one session; processes that are killed at bad moments.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use falconer::Options;
use falconer_event::{Body, Outcome};
use falconer_session::{Error, LockError, Resume, Session, SessionLocks, SessionSpec};
use falconer_testkit::{EngineScript, FakeEngine};
use serde_json::json;

use crate::scripted::LIMIT;

/// Says what a child process is to do.
const ROLE: &str = "FALCONER_SESSION_TEST_ROLE";
/// Where its locks are.
const LOCKS: &str = "FALCONER_SESSION_TEST_LOCKS";

fn options(engine: &FakeEngine) -> Options {
    let options = Options::new()
        .executable(engine.program())
        .env_clear()
        .env_inherit("PATH");
    engine
        .env()
        .iter()
        .fold(options, |options, (name, value)| options.env(name, value))
}

/// This test, again, in a process of its own; it prints a line when it is where it should be.
fn child(role: &str, locks: &SessionLocks) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::role_of_a_child", "--nocapture"])
        .env(ROLE, role)
        .env(LOCKS, locks.directory())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.find_map(|line| {
        let line = line.unwrap();
        line.split_once("READY ").map(|(_, rest)| rest.to_owned())
    });
    (child, ready.expect("the child got where it should be"))
}

/// Without a role it shows that children get theirs.
#[tokio::test]
async fn role_of_a_child() {
    let Ok(role) = std::env::var(ROLE) else {
        let folder = tempfile::tempdir().unwrap();
        let (mut child, ready) = child("echo", &SessionLocks::new(folder.path()));
        assert_eq!(ready, "echo");
        child.wait().unwrap();
        return;
    };
    if role == "echo" {
        announce("echo");
        return;
    }
    let script = EngineScript::new().initialize().on_user();
    let init = json!({"type": "system", "subtype": "init", "cwd": "/", "session_id": "s"});
    let script = match role.as_str() {
        "started" => script.emit(init),
        "permission" => script
            .emit(init)
            .ask_can_use_tool("Bash", json!({"command": "ls"})),
        "tool" => script
            .emit(init)
            .emit(json!({"type": "assistant", "message": {"id": "m",
            "role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash",
            "input": {"command": "sleep 1000"}}]}})),
        other => panic!("no such role: {other}"),
    };
    let engine = FakeEngine::script(&script.on_user().ignoring_sigterm().ignoring_eof()).unwrap();
    let locks = SessionLocks::new(std::env::var_os(LOCKS).unwrap());
    let spec = SessionSpec::new(locks).options(options(&engine));
    let (session, mut events) = Session::start(spec).await.unwrap();
    session.send("go").await.unwrap();
    while let Some(event) = events.next().await {
        let is_there = match event.body {
            Body::RunStarted(_) => role == "started",
            Body::PermissionRequested(_) => role == "permission",
            Body::ItemStarted(_) => role == "tool",
            _ => false,
        };
        if is_there {
            announce("there");
        }
    }
}

fn announce(what: &str) {
    println!("\nREADY {what}");
}

#[tokio::test]
async fn a_session_of_a_killed_process_is_free_again() {
    for role in ["started", "permission", "tool"] {
        let folder = tempfile::tempdir().unwrap();
        let locks = SessionLocks::new(folder.path());
        let (mut child, _) = child(role, &locks);
        let engine = FakeEngine::script(&EngineScript::new().initialize()).unwrap();
        let resume = || {
            SessionSpec::new(locks.clone())
                .options(options(&engine))
                .resume(Resume::session("s"))
        };
        // From another process it is in use, and by whom is said.
        match Session::start(resume()).await {
            Err(Error::Lock(error @ LockError::Held { .. })) => {
                assert!(
                    error.to_string().contains(&child.id().to_string()),
                    "{error}"
                );
            }
            other => panic!("{role}: {other:?}"),
        }
        child.kill().unwrap();
        child.wait().unwrap();
        drop(locks.lock("s", LIMIT).await.unwrap());
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            0,
            "{role}"
        );
    }
}

#[tokio::test]
async fn an_engine_that_ignores_sigterm_is_killed_on_close() {
    let script = EngineScript::new().initialize().on_user();
    let script = script
        .emit(json!({"type": "system", "subtype": "init", "cwd": "/", "session_id": "s"}))
        .on_user()
        .ignoring_sigterm()
        .ignoring_eof();
    let engine = FakeEngine::script(&script).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let locks = SessionLocks::new(folder.path());
    let options = options(&engine)
        .close_grace(std::time::Duration::from_millis(100))
        .kill_grace(std::time::Duration::from_millis(100));
    let spec = SessionSpec::new(locks.clone()).options(options);
    let (session, mut events) = Session::start(spec).await.unwrap();
    session.send("go").await.unwrap();
    while let Some(event) = events.next().await {
        if matches!(event.body, Body::RunStarted(_)) {
            break;
        }
    }
    tokio::time::timeout(LIMIT, session.close()).await.unwrap();
    drop(locks.try_lock("s").unwrap());
    let mut last = None;
    while let Some(event) = events.next().await {
        last = Some(event);
    }
    match last.map(|event| event.body) {
        Some(Body::RunCompleted(end)) => assert_eq!(end.outcome, Outcome::Cancelled),
        other => panic!("{other:?}"),
    }
}
