//! One policy on two engines: the same calls get the same verdicts.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use falconer::Options;
use falconer_event::Body;
use falconer_session::{Answer, Effect, Policy, Session, SessionLocks, SessionSpec};
use falconer_testkit::scenario::{Scenario, message, text};
use falconer_testkit::{ApiServer, RealCli, clean_env};
use serde_json::{Value, json};
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(180);

const POLICY: &str = r#"
[allow]
commands = ["touch", "echo"]
paths = ["src/**"]
rules = ["Edit(./docs/*.md)"]

[ask]
commands = ["mkdir"]
paths = ["**/*.lock"]

[deny]
commands = ["rm"]
paths = ["vault/**"]
rules = ["Bash(touch /etc/*)"]
"#;

/// Calls, and what the policy says about each.
fn calls(project: &Path) -> Vec<(&'static str, Value, Effect)> {
    use Effect::{Allow, Ask, Deny};
    let bash = |command: &str, effect| {
        let input = json!({"command": command, "description": "a command"});
        ("Bash", input, effect)
    };
    let write = |path: &str, effect| {
        let path = project.join(path);
        ("Write", json!({"file_path": path, "content": "x"}), effect)
    };
    let read = |path: &str, effect| ("Read", json!({"file_path": project.join(path)}), effect);
    vec![
        bash("touch a", Allow),
        bash("touch b && echo done", Allow),
        bash("echo x > src/log", Allow),
        bash("touch c && rm a", Deny),
        bash("echo \"$(rm a)\"", Deny),
        bash("sudo rm a", Deny),
        bash("sh -c 'rm a'", Deny),
        bash("touch /etc/falconer-was-here", Deny),
        bash("cat .env", Deny),
        bash("cat vault/x", Deny),
        bash("cat src/way/x", Deny),
        bash("mkdir d", Ask),
        bash("touch d; mkdir e", Ask),
        bash("$UNKNOWN touch a", Ask),
        bash("touch a; if", Ask),
        write("src/new.txt", Allow),
        write("docs/a.md", Allow),
        write("src/other.lock", Ask),
        write("vault/x", Deny),
        write("src/../vault/x", Deny),
        write("src/way/x", Deny),
        write(".ssh/authorized_keys", Deny),
        read(".env", Deny),
        read("src/settings", Deny),
    ]
}

struct Place {
    home: TempDir,
    project: TempDir,
}

impl Place {
    fn new() -> Self {
        let (home, project) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        for directory in ["src", "docs", "vault"] {
            std::fs::create_dir(project.path().join(directory)).unwrap();
        }
        for file in [".env", "vault/x"] {
            std::fs::write(project.path().join(file), "falcon egg").unwrap();
        }
        symlink("../vault", project.path().join("src/way")).unwrap();
        symlink("../.env", project.path().join("src/settings")).unwrap();
        Self { home, project }
    }

    fn options(&self, engine: &Path, url: &str) -> Options {
        let options = Options::new()
            .executable(engine)
            .cwd(self.project.path())
            .env_clear();
        clean_env(self.home.path(), url)
            .into_iter()
            .fold(options, |options, (name, value)| options.env(name, value))
    }
}

fn id(index: usize) -> String {
    format!("toolu_policy_{index:02}")
}

/// Makes all calls, one after the other, and says what became of each.
async fn verdicts(engine: &Path) -> Vec<Effect> {
    let place = Place::new();
    let project = place.project.path().canonicalize().unwrap();
    let calls = calls(&project);
    let scenario = calls
        .iter()
        .enumerate()
        .fold(Scenario::new(), |scenario, (index, call)| {
            scenario.turn(message().tool_use_as(id(index), call.0, call.1.clone()))
        });
    let server = ApiServer::start(scenario.turn(text("done"))).unwrap();
    let locks = SessionLocks::new(place.home.path().join("locks"));
    let spec = SessionSpec::new(locks)
        .options(place.options(engine, &server.url()))
        .policy(Arc::new(POLICY.parse::<Policy>().unwrap()))
        .until_idle();
    let asked = tokio::time::timeout(LIMIT, asked_of_a_person(spec))
        .await
        .expect("the run does not end");
    let results = results(&server);
    assert_eq!(results.len(), calls.len(), "{results:?}");
    let verdict = |index: usize| {
        let id = id(index);
        match (asked.contains(&id), results[&id].contains("policy: ")) {
            (true, _) => Effect::Ask,
            (false, true) => Effect::Deny,
            (false, false) => Effect::Allow,
        }
    };
    let was_read = results.values().any(|result| result.contains("falcon egg"));
    assert!(!was_read, "something denied was read: {results:?}");
    assert!(project.join("vault/x").exists() && project.join("src/new.txt").exists());
    (0..calls.len()).map(verdict).collect()
}

/// Runs to the end; whatever a person is asked is denied, and by its id told.
async fn asked_of_a_person(spec: SessionSpec) -> BTreeSet<String> {
    let (session, mut events) = Session::start(spec).await.unwrap();
    session.send("go").await.unwrap();
    let mut open = BTreeMap::new();
    let mut asked = BTreeSet::new();
    while let Some(event) = events.next().await {
        match event.body {
            Body::PermissionRequested(request) => {
                open.insert(request.id.clone(), request.tool_use_id.clone());
                let answer = Answer::deny(&request.id, &request.digest, "person", "not today");
                // The policy may have been faster.
                let _ = session.answer(answer).await;
            }
            Body::PermissionResolved(resolved) if resolved.by == "person" => {
                asked.extend(open.remove(&resolved.id));
            }
            _ => {}
        }
    }
    asked
}

/// What the model read after each call.
fn results(server: &ApiServer) -> BTreeMap<String, String> {
    let requests = server.messages();
    let bodies = requests.iter().map(|request| request.body.clone());
    let messages = bodies.flat_map(|body| body["messages"].as_array().cloned().unwrap_or_default());
    let blocks = messages.flat_map(|message| {
        let content = message["content"].as_array().cloned();
        content.unwrap_or_default()
    });
    let results = blocks.filter(|block| block["type"] == "tool_result");
    results
        .filter_map(|block| {
            let id = block["tool_use_id"].as_str()?.to_owned();
            Some((id, block["content"].to_string()))
        })
        .collect()
}

#[tokio::test]
async fn the_same_policy_gives_the_same_verdicts_on_both_engines() {
    let official = RealCli::find().unwrap().path().to_owned();
    let ours = PathBuf::from(env!("CARGO_BIN_EXE_falconer-claude"));
    let directory = TempDir::new().unwrap();
    let calls = calls(directory.path());
    let expected: Vec<Effect> = calls.iter().map(|call| call.2).collect();
    for engine in [official, ours] {
        let found = verdicts(&engine).await;
        let differing: Vec<_> = calls
            .iter()
            .zip(&found)
            .filter(|(call, found)| call.2 != **found)
            .collect();
        assert_eq!(found, expected, "{}: {differing:?}", engine.display());
    }
}
