//! A server that is told to end while somebody is asked: nobody decides in his place.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use falconer_testkit::scenario::{Scenario, any, last_user_contains, status, text, tool_use};
use falconer_testkit::{ApiServer, RealCli, clean_env};
use serde_json::{Value, json};

use crate::server_process::Server;

fn serve(root: &Path, model: &ApiServer) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_falconer"));
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env_clear()
        .envs(clean_env(&root.join("home"), &model.url()))
        .env("FALCONER_CLAUDE_PATH", RealCli::find().unwrap().path())
        .env("FALCONER_STATE_DIR", root.join("state"))
        .current_dir(root.join("work"))
        .stdin(Stdio::null());
    Server::start(&mut command, &root.join("state"))
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let kept = tempfile::tempdir().unwrap();
    let root = kept.path().canonicalize().unwrap();
    for name in ["home", "work", "state"] {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    (kept, root)
}

/// The session after a stop with an open request: interrupted, at no further cost, and resumed.
fn stopped_while_asking(engine: &str) {
    let (_kept, root) = place();
    let write = json!({"command": "sh -c 'echo hello > hello.txt'"});
    let scenario = Scenario::new()
        .on(last_user_contains("write it"))
        .always()
        .reply(tool_use("Bash", write))
        .on(any())
        .always()
        .reply(text("I see"));
    let model = ApiServer::start(scenario).unwrap();
    let server = serve(&root, &model);
    let new = json!({"engine": engine, "cwd": root.join("work"),
        "message": {"client_msg_id": "1", "text": "write it"}});
    let session = server.made("/v1/sessions", &new);
    let request = server.follow(&session).event("permission.requested")["data"].clone();
    let asked = model.messages().len();
    server.end();
    assert_eq!(model.messages().len(), asked, "the model was asked again");

    let server = serve(&root, &model);
    let url = session["url"].as_str().unwrap();
    let (_, kept) = server.call("GET", url, None);
    assert_eq!(
        (&kept["state"], &kept["pending"]),
        (&json!("interrupted"), &json!(0))
    );
    let last = &kept["last_turn"];
    assert_eq!(last["outcome"], "interrupted", "{kept}");
    assert_eq!(last["failure"]["class"], "server_stopped", "{kept}");
    let path = format!("/v1/requests/{}", request["id"].as_str().unwrap());
    let (_, settled) = server.call("GET", &path, None);
    assert_eq!(settled["state"], "expired", "{settled}");
    let mut events = server.follow(&session);
    let resolved = events.event("permission.resolved");
    assert_eq!(resolved["data"]["resolution"], "expired", "{resolved}");
    let turn = events.event("turn.completed");
    assert_eq!(turn["data"]["failure"]["class"], "interrupted", "{turn}");
    assert_eq!(
        events.event("run.completed")["data"]["outcome"],
        "cancelled"
    );

    let messages = format!("{url}/messages");
    server.made(
        &messages,
        &json!({"client_msg_id": "2", "text": "and now?"}),
    );
    let turn = events.event("turn.completed");
    assert_eq!(turn["data"]["text"], "I see", "{turn}");
    assert!(!root.join("work/hello.txt").exists());
    server.end();
}

#[test]
fn a_server_that_stops_denies_nothing_to_the_model() {
    stopped_while_asking("native");
}

#[test]
fn a_server_that_stops_denies_nothing_to_the_official_cli() {
    stopped_while_asking("claude");
}

/// A server with a session whose turn has ended, and how.
fn ended_turn(scenario: Scenario) -> (tempfile::TempDir, PathBuf, ApiServer, Server, Value) {
    let (kept, root) = place();
    let model = ApiServer::start(scenario).unwrap();
    let server = serve(&root, &model);
    let new = json!({"engine": "native", "cwd": root.join("work"),
        "message": {"client_msg_id": "1", "text": "hello"}});
    let session = server.made("/v1/sessions", &new);
    server.follow(&session).event("turn.completed");
    (kept, root, model, server, session)
}

#[test]
fn a_session_says_how_its_last_turn_failed() {
    let scenario = Scenario::new().on(any()).always().reply(status(401));
    let (_kept, _root, _model, server, session) = ended_turn(scenario);
    let (_, found) = server.call("GET", session["url"].as_str().unwrap(), None);
    let last = &found["last_turn"];
    assert_eq!(last["outcome"], "failed", "{found}");
    assert_eq!(last["failure"]["kind"], "authentication", "{last}");
    server.end();
}

#[test]
fn a_process_that_dies_at_rest_has_interrupted_nothing() {
    let scenario = Scenario::new().on(any()).always().reply(text("hi"));
    let (_kept, root, model, server, session) = ended_turn(scenario);
    let url = session["url"].as_str().unwrap();
    let (_, before) = server.call("GET", url, None);
    assert_eq!(before["last_turn"]["outcome"], "done", "{before}");
    server.kill();
    let server = serve(&root, &model);
    let (_, after) = server.call("GET", url, None);
    assert_eq!(after["state"], "idle", "{after}");
    assert_eq!(
        after["last_turn"], before["last_turn"],
        "there is nothing new to read"
    );
    let run = server.follow(&session).event("run.completed");
    assert_eq!(run["data"]["outcome"], "ok", "{run}");
    server.end();
}
