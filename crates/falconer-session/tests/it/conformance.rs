//! The official CLI through a session, against a scripted model. Needs `FALCONER_CLAUDE_PATH`.

use falconer::Options;
use falconer_event::{Body, Event, Outcome};
use falconer_session::{
    Answer, Resume, RunFailure, Session, SessionLocks, SessionSpec, find_session, resume_line,
};
use falconer_testkit::scenario::{Scenario, text, tool_use};
use falconer_testkit::{ApiServer, RealCli, clean_env};
use serde_json::json;
use tempfile::TempDir;

use crate::scripted::{LIMIT, class, completed};

struct Cli {
    server: ApiServer,
    home: TempDir,
    project: TempDir,
    locks: SessionLocks,
}

impl Cli {
    fn new(scenario: Scenario) -> Self {
        let home = TempDir::new().unwrap();
        Self {
            server: ApiServer::start(scenario).unwrap(),
            locks: SessionLocks::new(home.path().join("locks")),
            home,
            project: TempDir::new().unwrap(),
        }
    }

    fn spec(&self) -> SessionSpec {
        let cli = RealCli::find().unwrap();
        let options = Options::new()
            .executable(cli.path())
            .cwd(self.project.path())
            .env_clear();
        let env = clean_env(self.home.path(), &self.server.url());
        let options = env
            .into_iter()
            .fold(options, |options, (name, value)| options.env(name, value));
        SessionSpec::new(self.locks.clone())
            .options(options)
            .until_idle()
    }

    /// Runs to the end; whatever is asked is allowed.
    async fn run(&self, spec: SessionSpec, prompt: &str) -> Vec<Event> {
        let (session, mut events) = Session::start(spec).await.unwrap();
        session.send(prompt).await.unwrap();
        let mut all = Vec::new();
        let reading = async {
            while let Some(event) = events.next().await {
                if let Body::PermissionRequested(asked) = &event.body {
                    let allow = Answer::allow(&asked.id, &asked.digest, "test");
                    session.answer(allow).await.unwrap();
                }
                all.push(event);
            }
        };
        tokio::time::timeout(4 * LIMIT, reading)
            .await
            .expect("the run does not end");
        all
    }
}

#[tokio::test]
async fn a_tool_is_asked_for_allowed_and_run() {
    let scenario = Scenario::new()
        .turn(tool_use("Bash", json!({"command": "touch made.txt"})))
        .turn(text("done"));
    let cli = Cli::new(scenario);
    let events = cli.run(cli.spec(), "make it").await;
    let end = completed(&events);
    assert_eq!((end.outcome, end.text.as_str()), (Outcome::Ok, "done"));
    assert!(cli.project.path().join("made.txt").exists());
    let names = ["permission.requested", "permission.resolved", "run.started"];
    for name in names {
        let count = events
            .iter()
            .filter(|event| serde_json::to_value(event).unwrap()["type"] == name)
            .count();
        assert_eq!(count, 1, "{name}");
    }
}

#[tokio::test]
async fn a_session_is_resumed_by_its_line_and_a_vanished_one_is_told() {
    let cli = Cli::new(Scenario::new().turn(text("one")).turn(text("two")));
    let first = completed(&cli.run(cli.spec(), "hello").await);
    let line = resume_line(first.native_session.as_deref().unwrap());
    let session = find_session(&line).unwrap();
    let resumed = cli.spec().resume(Resume::session(session));
    let second = completed(&cli.run(resumed, "again").await);
    assert_eq!(second.text, "two");
    assert_eq!(second.native_session, first.native_session);

    let gone = "cccccccc-aaaa-4aaa-8aaa-cccccccccccc";
    let events = cli
        .run(cli.spec().resume(Resume::session(gone)), "again")
        .await;
    assert_eq!(
        class(&completed(&events)),
        RunFailure::SessionNotFound.class()
    );
    drop(cli.locks.try_lock(gone).unwrap());
}
