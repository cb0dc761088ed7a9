//! One session on any engine: the official CLI and the native engine against a scripted model,
//! and the fake engine with a script that does the same.

use std::time::Duration;

use falconer::Options;
use falconer_event::{Body, Event, Run};
use falconer_native::NativeEngine;
use falconer_session::{
    Answer, EventStream, Session, SessionHandle, SessionLocks, SessionSpec, Verdict,
};
use falconer_testkit::scenario::Scenario;
use falconer_testkit::{ApiServer, EngineScript, FakeEngine, RealCli, clean_env};
use tempfile::TempDir;

use crate::scripted::LIMIT;

/// Which engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Needs `FALCONER_CLAUDE_PATH`.
    Official,
    Native,
    Fake,
}

/// The engines that ask a model.
pub(crate) const REAL: [Kind; 2] = [Kind::Official, Kind::Native];

/// An engine with a home, a project and a place for locks of its own.
pub(crate) struct Site {
    pub(crate) kind: Kind,
    pub(crate) server: Option<ApiServer>,
    pub(crate) home: TempDir,
    pub(crate) project: TempDir,
    pub(crate) locks: SessionLocks,
    fake: Option<FakeEngine>,
}

impl Site {
    /// An engine that asks a model which plays a scenario.
    pub(crate) fn real(kind: Kind, scenario: Scenario) -> Self {
        let server = ApiServer::start(scenario).unwrap();
        Self::with(kind, Some(server), None)
    }

    /// The fake engine, playing a script.
    pub(crate) fn fake(script: &EngineScript) -> Self {
        let fake = FakeEngine::script(script).unwrap();
        Self::with(Kind::Fake, None, Some(fake))
    }

    /// All three of them, doing the same.
    pub(crate) fn each(scenario: impl Fn() -> Scenario, script: &EngineScript) -> Vec<Self> {
        let real = REAL.map(|kind| Self::real(kind, scenario()));
        real.into_iter().chain([Self::fake(script)]).collect()
    }

    fn with(kind: Kind, server: Option<ApiServer>, fake: Option<FakeEngine>) -> Self {
        let home = TempDir::new().unwrap();
        Self {
            kind,
            server,
            locks: SessionLocks::new(home.path().join("locks")),
            home,
            project: TempDir::new().unwrap(),
            fake,
        }
    }

    pub(crate) fn options(&self) -> Options {
        let options = Options::new().cwd(self.project.path()).env_clear();
        let options = match self.kind {
            Kind::Official => options.executable(RealCli::find().unwrap().path()),
            Kind::Native => options.engine(NativeEngine::new()),
            Kind::Fake => {
                let program = self.fake.as_ref().unwrap().program();
                options.executable(program).env_inherit("PATH")
            }
        };
        let env = match (&self.server, &self.fake) {
            (Some(server), _) => clean_env(self.home.path(), &server.url()),
            (None, Some(fake)) => fake.env().to_vec(),
            (None, None) => Vec::new(),
        };
        let set = |options: Options, (name, value)| options.env(name, value);
        let options = env.into_iter().fold(options, set);
        // The model's failures are the session's to deal with.
        options.env("CLAUDE_CODE_MAX_RETRIES", "0")
    }

    pub(crate) fn spec(&self) -> SessionSpec {
        let mut about = Run::default();
        about.engine = format!("{:?}", self.kind).to_lowercase();
        SessionSpec::new(self.locks.clone())
            .options(self.options())
            .about(about)
            .until_idle()
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.project.path().join(file).exists()
    }

    /// Runs to the end; whatever is asked is allowed.
    pub(crate) async fn run(&self, spec: SessionSpec, prompt: &str) -> Vec<Event> {
        let (session, mut events) = Session::start(spec).await.unwrap();
        session.send(prompt).await.unwrap();
        let all = allow_everything(&session, &mut events).await;
        session.ended().await;
        assert_eq!(
            std::fs::read_dir(self.locks.directory()).map_or(0, Iterator::count),
            0,
            "{:?}: no lock is left",
            self.kind
        );
        all
    }
}

/// Reads to the end; whatever is asked is allowed.
pub(crate) async fn allow_everything(
    session: &SessionHandle,
    events: &mut EventStream,
) -> Vec<Event> {
    let mut all = Vec::new();
    let reading = async {
        while let Some(event) = events.next().await {
            if let Body::PermissionRequested(asked) = &event.body {
                let allow = Answer::new(&asked.id, &asked.digest, "test", Verdict::Allow);
                // A limit may have been quicker.
                let _ = session.answer(allow).await;
            }
            all.push(event);
        }
    };
    let limit: Duration = 4 * LIMIT;
    tokio::time::timeout(limit, reading)
        .await
        .expect("the run does not end");
    all
}

/// How many events have this type.
pub(crate) fn count(events: &[Event], name: &str) -> usize {
    let is = |event: &&Event| serde_json::to_value(event).unwrap()["type"] == name;
    events.iter().filter(is).count()
}
