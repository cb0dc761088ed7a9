//! What a project and its user have configured holds for the sessions of a server, too.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::server_process::Server;

/// Asks for one thing after the other, for ever.
const SCENARIO: &str = r#"{ "rules": [ { "times": "always", "reply": { "message": { "content": [
    { "type": "tool_use", "name": "Bash", "input": { "command": "pwd" } } ] } } } ] }"#;

struct Place {
    root: PathBuf,
    _kept: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let root = kept.path().canonicalize().unwrap();
        for directory in ["work/project", "home/.config/falconer"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        std::fs::write(root.join("demo.json"), SCENARIO).unwrap();
        Self { root, _kept: kept }
    }

    fn project(&self, text: &str) {
        std::fs::write(self.root.join("work/project/.falconer.toml"), text).unwrap();
    }

    fn user(&self, text: &str) {
        let file = self.root.join("home/.config/falconer/config.toml");
        std::fs::write(file, text).unwrap();
    }

    fn serve(&self) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_falconer"));
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--engine-scenario"])
            .arg(self.root.join("demo.json"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.join("home"))
            .env("FALCONER_STATE_DIR", self.root.join("state"))
            .current_dir(self.root.join("work"))
            .stdin(Stdio::null());
        Server::start(&mut command, &self.root.join("state"))
    }

    fn session(&self, server: &Server, extra: &Value) -> Value {
        let mut new = json!({"engine": "script", "cwd": self.root.join("work/project")});
        for (key, value) in extra.as_object().unwrap() {
            new[key] = value.clone();
        }
        server.made("/v1/sessions", &new)
    }

    /// The words with which a run was told that it is over.
    fn limit(&self, server: &Server, extra: &Value) -> String {
        let mut extra = extra.clone();
        extra["message"] = json!({"client_msg_id": "1", "text": "go on for ever"});
        let session = self.session(server, &extra);
        let limit = server.follow(&session).event("limit");
        limit["data"]["text"].as_str().unwrap().to_owned()
    }
}

#[test]
fn the_mode_of_a_project_is_the_widest_there_is() {
    let place = Place::new();
    place.project("[run]\npermission_mode = \"plan\"\n");
    let server = place.serve();
    for asked in [json!({}), json!({"mode": "acceptEdits"})] {
        assert_eq!(place.session(&server, &asked)["mode"], "plan", "{asked}");
    }
    // A project that says so later is obeyed at the next start.
    place.project("");
    let session = place.session(&server, &json!({"mode": "acceptEdits"}));
    assert_eq!(session["mode"], "acceptEdits");
    place.project("[run]\npermission_mode = \"plan\"\n");
    let url = session["url"].as_str().unwrap();
    server.made(&format!("{url}/resume"), &json!({}));
    let (_, started) = server.call("GET", url, None);
    assert_eq!(started["mode"], "plan");
    let wider = json!({"mode": "default"});
    let (status, problem) = server.call("PATCH", url, Some(&wider));
    assert_eq!(status, 422, "{problem}");
    assert!(
        problem["detail"].as_str().unwrap().contains("`plan`"),
        "{problem}"
    );
}

#[test]
fn the_limits_of_project_and_user_hold_and_a_session_may_ask_for_less() {
    let place = Place::new();
    place.user("[run]\nmax_turns = 4\nallow = [\"Bash(pwd)\"]\n");
    let server = place.serve();
    let (four, two) = ("the model was asked 4 times", "the model was asked 2 times");
    let (more, less) = (
        json!({"limits": {"turns": 50}}),
        json!({"limits": {"turns": 2}}),
    );
    assert_eq!(place.limit(&server, &json!({})), four);
    assert_eq!(
        place.limit(&server, &more),
        four,
        "a session cannot ask for more"
    );
    assert_eq!(place.limit(&server, &less), two, "it can ask for less");
    place.project("[run]\nmax_turns = 2\n");
    assert_eq!(place.limit(&server, &json!({})), two);
    place.project("[run]\nmax_turns = 40\n");
    assert_eq!(
        place.limit(&server, &json!({})),
        four,
        "a project cannot widen"
    );
}
