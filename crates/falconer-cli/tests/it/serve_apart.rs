//! Sessions of a server that are kept apart from its machine: the official CLI, a real sandbox.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use falconer_testkit::scenario::{
    Scenario, any, last_user_contains, text, tool_result_contains, tool_use,
};
use falconer_testkit::{ApiServer, RealCli, clean_env};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server_process::Server;

/// A machine with a server on it, and something outside of its sessions.
struct Machine {
    model: ApiServer,
    root: PathBuf,
    _kept: TempDir,
}

impl Machine {
    fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let root = kept.path().canonicalize().unwrap();
        for name in ["home", "work", "outside", "state"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        std::fs::write(root.join("home/secret.txt"), "geheim").unwrap();
        let script = format!(
            "echo x > '{0}/outside/written'; cat '{0}/home/secret.txt' > seen; echo ok > ran",
            root.display()
        );
        std::fs::write(root.join("work/try.sh"), script).unwrap();
        Self {
            model: ApiServer::start(scenario()).unwrap(),
            root,
            _kept: kept,
        }
    }

    fn serve(&self) -> Server {
        self.serve_with(|command| command)
    }

    fn serve_with(&self, change: impl Fn(&mut Command) -> &mut Command) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_falconer"));
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--engine-scenario"])
            .arg(self.root.join("script.json"))
            .env_clear()
            .envs(clean_env(&self.root.join("home"), &self.model.url()))
            .env("FALCONER_CLAUDE_PATH", RealCli::find().unwrap().path())
            .env("FALCONER_STATE_DIR", self.root.join("state"))
            .current_dir(self.root.join("work"))
            .stdin(Stdio::null());
        let script = r#"{"rules": [{"times": "always", "reply": {"text": "hi"}}]}"#;
        std::fs::write(self.root.join("script.json"), script).unwrap();
        Server::start(change(&mut command), &self.root.join("state"))
    }

    fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// Whether the model was shown what was said at first when it was asked this.
    fn knows(&self, question: &str) -> bool {
        let asked = self.model.messages();
        let mut asked = asked.iter().map(|request| format!("{request:?}"));
        let last = asked.rfind(|asked| asked.contains(question));
        last.expect("it was asked").contains("I like falcons")
    }

    fn session(&self, isolation: &Value) -> Value {
        json!({"engine": "claude", "cwd": self.work(), "isolation": isolation})
    }
}

fn scenario() -> Scenario {
    Scenario::new()
        .on(tool_result_contains(""))
        .always()
        .reply(text("tried"))
        .on(last_user_contains("try it"))
        .always()
        .reply(tool_use("Bash", json!({"command": "bash ./try.sh"})))
        .on(any())
        .always()
        .reply(text("I see"))
}

fn say(server: &Server, session: &Value, id: &str, text: &str) {
    let path = format!("{}/messages", session["url"].as_str().unwrap());
    server.made(&path, &json!({"client_msg_id": id, "text": text}));
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[test]
fn a_sandboxed_session_is_proven_confined_and_resumed_as_it_was() {
    let machine = Machine::new();
    let server = machine.serve();
    let sandbox = json!({"type": "sandbox"});
    let session = server.made("/v1/sessions", &machine.session(&sandbox));
    assert_eq!(
        session.get("sandbox"),
        None,
        "nothing is claimed before it is tried"
    );
    let mut frames = server.follow(&session);
    say(&server, &session, "1", "I like falcons; try it");
    let started = frames.event("run.started");
    let told = started["data"]["sandbox"].as_str().unwrap();
    assert!(
        told.starts_with("sandboxed, network closed; proven: "),
        "{told}"
    );
    // A sandbox is no approval: the command is asked about as everywhere.
    let request = frames.event("permission.requested")["data"].clone();
    let path = format!("/v1/requests/{}/answer", request["id"].as_str().unwrap());
    let answer = json!({"digest": request["digest"], "verdict": {"type": "allow"}});
    server.made(&path, &answer);
    frames.event("turn.completed");
    assert_eq!(read(&machine.work().join("ran")).as_deref(), Some("ok\n"));
    assert!(
        !machine.root.join("outside/written").exists(),
        "the write was refused"
    );
    let seen = read(&machine.work().join("seen")).unwrap_or_default();
    assert_eq!(seen, "", "the home of the server is not seen");
    let url = session["url"].as_str().unwrap();
    let (_, now) = server.call("GET", url, None);
    assert_eq!(
        (&now["isolation"]["type"], &now["sandbox"]),
        (&json!("sandbox"), &json!(told))
    );
    server.kill();

    let server = machine.serve();
    let mut frames = server.follow(&session);
    frames.event("run.completed");
    say(&server, &session, "2", "what do I like?");
    let again = frames.event("run.started");
    assert_eq!(
        again["data"]["native_session"],
        started["data"]["native_session"]
    );
    let told = again["data"]["sandbox"].as_str().unwrap();
    assert!(told.contains("proven: "), "{told}");
    frames.event("turn.completed");
    assert!(machine.knows("what do I like?"), "its own conversation");

    let copy = server.made(&format!("{url}/fork"), &json!({}));
    assert_eq!(
        (&copy["isolation"], copy.get("sandbox")),
        (&now["isolation"], None)
    );
    let (status, problem) = server.call("DELETE", url, None);
    assert_eq!((status, &problem["code"]), (409, &json!("wrong_state")));
    let id = copy["id"].as_str().unwrap();
    assert!(
        problem["detail"].as_str().unwrap().contains(id),
        "{problem}"
    );
    let mut frames = server.follow_from_now(&copy);
    say(&server, &copy, "3", "what did I like?");
    let told = frames.event("run.started")["data"]["sandbox"].clone();
    assert!(told.as_str().unwrap().contains("proven: "), "{told}");
    frames.event("turn.completed");
    assert!(
        machine.knows("what did I like?"),
        "a copy of the conversation"
    );

    let kept = machine.root.join("state/locks/conversations");
    assert_eq!(transcripts(&kept), 2);
    for url in [url, copy["url"].as_str().unwrap()] {
        assert_eq!(server.call("DELETE", url, None).0, 204);
    }
    assert_eq!(
        transcripts(&kept),
        0,
        "what was said is forgotten with the session"
    );
    server.end();
}

/// How many conversations are kept.
fn transcripts(kept: &Path) -> usize {
    let projects = std::fs::read_dir(kept).unwrap();
    let of_project = projects.map(|project| std::fs::read_dir(project.unwrap().path()).unwrap());
    of_project.flatten().count()
}

#[test]
fn what_cannot_be_had_is_refused_before_anything_is_made() {
    let machine = Machine::new();
    // A machine without a sandbox.
    let bare = machine.root.join("bin");
    std::fs::create_dir(&bare).unwrap();
    let server = machine.serve_with(|command| command.env("PATH", &bare));
    let sandbox = json!({"type": "sandbox"});
    let in_server = json!({"engine": "script", "cwd": machine.work(), "isolation": sandbox});
    let nonsense = machine.session(&json!({"type": "sandbox", "netwrok": {}}));
    let open = machine.session(&json!({"type": "sandbox", "network": {"domains": ["*"]}}));
    for (asked, status, code, words) in [
        (
            in_server,
            422,
            "isolation_not_available",
            "runs inside the server",
        ),
        (
            machine.session(&sandbox),
            422,
            "isolation_not_available",
            "bwrap",
        ),
        (nonsense, 422, "invalid_value", "netwrok"),
        (open, 422, "invalid_value", "`*`"),
    ] {
        let (found, problem) = server.call("POST", "/v1/sessions", Some(&asked));
        assert_eq!(
            (found, &problem["code"]),
            (status, &json!(code)),
            "{problem}"
        );
        assert!(
            problem["detail"].as_str().unwrap().contains(words),
            "{problem}"
        );
        assert!(problem["hint"].is_string(), "{problem}");
    }
    let (_, sessions) = server.call("GET", "/v1/sessions", None);
    assert_eq!(sessions["sessions"], json!([]), "nothing was made");

    let asks_less = json!({"type": "sandbox", "commands": "run"});
    let prompting = server.made(
        "/v1/tokens",
        &json!({"name": "ci", "scopes": ["read", "operate"]}),
    );
    let mut weak = machine.serve();
    weak.token = prompting["secret"].as_str().unwrap().to_owned();
    let asked = machine.session(&asks_less);
    let (status, problem) = weak.call("POST", "/v1/sessions", Some(&asked));
    assert_eq!(
        (status, &problem["code"]),
        (403, &json!("missing_scope")),
        "{problem}"
    );
    server.end();
}

#[test]
fn a_sandbox_that_is_lost_between_two_runs_ends_the_session_not_its_protection() {
    let machine = Machine::new();
    let server = machine.serve();
    let session = server.made(
        "/v1/sessions",
        &machine.session(&json!({"type": "sandbox"})),
    );
    server.end();
    let bare = machine.root.join("bin");
    std::fs::create_dir(&bare).unwrap();
    let server = machine.serve_with(|command| command.env("PATH", &bare));
    let path = format!("{}/messages", session["url"].as_str().unwrap());
    let message = json!({"client_msg_id": "1", "text": "try it"});
    let (status, problem) = server.call("POST", &path, Some(&message));
    assert_eq!(
        (status, &problem["code"]),
        (422, &json!("isolation_not_available"))
    );
    assert!(problem["hint"].is_string(), "{problem}");
    assert!(machine.model.messages().is_empty(), "no engine was started");
    server.end();
}

#[test]
fn a_home_of_its_own_is_no_sandbox_and_says_so() {
    let machine = Machine::new();
    let server = machine.serve();
    let session = server.made("/v1/sessions", &machine.session(&json!({"type": "home"})));
    let mut frames = server.follow(&session);
    say(&server, &session, "1", "hello");
    let started = frames.event("run.started");
    assert_eq!(
        started["data"]["sandbox"],
        "none, by choice; a home of its own"
    );
    frames.event("turn.completed");
    assert!(
        !machine.root.join("home/.claude/projects").exists(),
        "nothing in the host's home"
    );
    server.end();
}

#[test]
fn configured_skills_are_given_to_sessions_that_are_kept_apart() {
    let machine = Machine::new();
    let skill = machine.root.join("outside/release-notes");
    std::fs::create_dir(&skill).unwrap();
    let text = "---\nname: release-notes\ndescription: Writes notes for pelicans.\n---\nWrite.\n";
    std::fs::write(skill.join("SKILL.md"), text).unwrap();
    let server = machine.serve_with(|command| command.env("FALCONER_RUN__ISOLATED_SKILLS", &skill));
    let session = server.made("/v1/sessions", &machine.session(&json!({"type": "home"})));
    let mut frames = server.follow(&session);
    say(&server, &session, "1", "hello");
    frames.event("turn.completed");
    let asked = format!("{:?}", machine.model.messages());
    assert!(asked.contains("notes for pelicans"), "{asked}");
    server.end();
}

#[test]
fn a_skill_that_cannot_be_used_keeps_an_isolated_run_from_starting() {
    let machine = Machine::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_falconer"));
    command
        .args([
            "run",
            "hi",
            "--engine=claude",
            "--isolation=sandbox",
            "--no-store",
        ])
        .env_clear()
        .envs(clean_env(&machine.root.join("home"), &machine.model.url()))
        .env("FALCONER_CLAUDE_PATH", RealCli::find().unwrap().path())
        .env(
            "FALCONER_RUN__ISOLATED_SKILLS",
            machine.root.join("nowhere"),
        )
        .current_dir(machine.work());
    let ran = crate::program::run(&mut command, "");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert_ne!(ran.code, Some(0), "{said}");
    assert!(said.contains("nowhere"), "{said}");
    assert!(machine.model.messages().is_empty(), "{said}");
}
