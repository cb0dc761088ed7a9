//! Sessions that end in every way there is, and what is left of their processes: nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer::Options;
use falconer_event::Run;
use falconer_hub::{EngineName, Engines, Launch, LaunchError};
use falconer_native::{NativeEngine, Scenario};
use falconer_scenario::{any, last_user_contains, text, tool_result_contains, tool_use};
use falconer_store::SessionRecord;
use falconer_testkit::{EngineScript, EngineStep, FakeEngine};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::apart::{self, Apart, PATIENCE, Reach, processes_where, until};
use crate::soak::LONG;

const TEST: &str = "endings::no_process_outlives_its_session_however_that_ends";
/// Sessions that are on their way to their ends at a time.
const AT_ONCE: usize = 14;

/// How a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Its turn comes to its end, then it is closed.
    Done,
    /// Its turn is interrupted.
    Interrupted,
    /// It is closed while a command runs.
    Closed,
    /// It is deleted while a command runs.
    Deleted,
    /// Its engine dies.
    EngineDies,
    /// Its command is killed.
    CommandDies,
    /// Its server is killed.
    ServerDies,
}

impl Way {
    const ALL: [Self; 7] = [
        Self::Done,
        Self::Interrupted,
        Self::Closed,
        Self::Deleted,
        Self::EngineDies,
        Self::CommandDies,
        Self::ServerDies,
    ];

    fn engine(self) -> &'static str {
        match self {
            Self::EngineDies => "mortal",
            _ => "script",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Done => "leave something behind",
            _ => "work for long",
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_outlives_its_session_however_that_ends() {
    apart::serve_if_asked(|home| Mortal { home }).await;
    let count = match std::env::var_os(LONG) {
        Some(_) => 500,
        None => 56,
    };
    let mut apart = Apart::start(TEST).await;
    let reach = apart.reach();
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut ending = JoinSet::new();
    for number in 0..count {
        let way = Way::ALL[number % Way::ALL.len()];
        let folder = apart.place.work().join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        let (reach, places) = (reach.clone(), places.clone());
        ending.spawn(async move {
            let _place = places.acquire().await.unwrap();
            let session = Session::begin(reach, way, folder).await;
            session.end().await;
            session
        });
    }
    let sessions = ending.join_all().await;
    let left = |session: &&Session| session.way == Way::ServerDies;
    for session in sessions.iter().filter(left) {
        assert!(!session.processes().is_empty(), "it works until then");
    }
    apart.kill().await;
    apart.leaves_nothing().await;

    apart.replace_dead().await;
    for session in sessions.iter().filter(left) {
        let found = session.reach.get(&session.path).await;
        assert_eq!(found["state"], "interrupted", "{found}");
        assert!(session.processes().is_empty(), "nothing is run again");
    }
    apart.kill().await;
    apart.leaves_nothing().await;
}

/// A session on its way to its end.
struct Session {
    reach: Reach,
    way: Way,
    folder: PathBuf,
    path: String,
}

impl Session {
    /// Makes one and waits until it is at work.
    async fn begin(reach: Reach, way: Way, folder: PathBuf) -> Self {
        let asked = json!({"engine": way.engine(), "cwd": folder});
        let made = reach.post("/v1/sessions", asked).await;
        let path = made["url"].as_str().unwrap().to_owned();
        let message = json!({"client_msg_id": "1", "text": way.words()});
        reach.post(&format!("{path}/messages"), message).await;
        let session = Self {
            reach,
            way,
            folder,
            path,
        };
        if way != Way::EngineDies {
            let asked = session.event("permission.requested").await;
            let path = format!("/v1/requests/{}/answer", asked["id"].as_str().unwrap());
            let answer = json!({"digest": asked["digest"], "verdict": {"type": "allow"}});
            session.reach.post(&path, answer).await;
            until("its command runs", || session.command().is_some()).await;
        }
        session
    }

    /// The process id its command has written down, once it is complete.
    fn command(&self) -> Option<String> {
        let written = std::fs::read_to_string(self.folder.join("started")).ok()?;
        Some(written.strip_suffix('\n')?.to_owned())
    }

    async fn end(&self) {
        match self.way {
            Way::Done => drop(self.event("turn.completed").await),
            Way::Interrupted => {
                self.order("interrupt").await;
                self.event("turn.completed").await;
                // The session lives on; what it was doing does not.
                self.is_alone().await;
            }
            Way::EngineDies => drop(self.event("run.completed").await),
            Way::CommandDies => {
                self.kill_command();
                self.event("turn.completed").await;
            }
            Way::Deleted => {
                let (status, text) = self
                    .reach
                    .ask(Method::DELETE, &self.path, &Value::Null)
                    .await;
                assert_eq!(status, 204, "{text}");
            }
            Way::Closed | Way::ServerDies => {}
        }
        match self.way {
            Way::ServerDies => {}
            Way::Deleted | Way::EngineDies => self.is_alone().await,
            _ => {
                self.order("close").await;
                self.is_alone().await;
            }
        }
    }

    async fn order(&self, what: &str) {
        let path = format!("{}/{what}", self.path);
        self.reach.post(&path, json!({})).await;
    }

    /// The data of the first event of this type.
    async fn event(&self, kind: &str) -> Value {
        let following = async {
            loop {
                let path = format!("{}/stream", self.path);
                let Some(mut wire) = self.reach.follow(&path, 0).await else {
                    continue;
                };
                while let Some(told) = wire.next().await {
                    let is_event = told.event == "event";
                    let data: Value = serde_json::from_str(&told.data).unwrap();
                    if is_event && data["type"] == kind {
                        return data["data"].clone();
                    }
                }
            }
        };
        let found = tokio::time::timeout(PATIENCE, following).await;
        found.unwrap_or_else(|_| panic!("no {kind} in {} ({:?})", self.path, self.way))
    }

    /// The processes that work in its folder, whatever they call themselves.
    fn processes(&self) -> Vec<u32> {
        processes_where(|pid| {
            let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
            cwd.is_ok_and(|cwd| cwd == self.folder)
        })
    }

    async fn is_alone(&self) {
        let what = format!("nothing is left of {} ({:?})", self.path, self.way);
        until(&what, || self.processes().is_empty()).await;
    }

    fn kill_command(&self) {
        let killed = std::process::Command::new("kill")
            .args(["-9", &self.command().unwrap()])
            .status();
        assert!(killed.unwrap().success());
    }
}

/// Engines that die, and commands that would not.
struct Mortal {
    home: PathBuf,
}

impl Engines for Mortal {
    fn launch(&self, session: &SessionRecord) -> Result<Launch, LaunchError> {
        let options = Options::new()
            .env_clear()
            .env_inherit("PATH")
            .env("HOME", &self.home)
            .env("TMPDIR", &self.home);
        let options = match session.engine.as_str() {
            "mortal" => mortal(options),
            _ => options.engine(NativeEngine::scripted(scenario())),
        };
        let mut about = Run::default();
        about.engine.clone_from(&session.engine);
        Ok(Launch::new(options, about))
    }

    fn names(&self) -> Vec<EngineName> {
        ["script", "mortal"]
            .map(|name| EngineName::available(name, "it is a test"))
            .into()
    }
}

/// An engine process that starts something, and dies.
fn mortal(options: Options) -> Options {
    let grandchild = EngineStep::Grandchild {
        seconds: 3600,
        output: Default::default(),
    };
    let script = EngineScript::new()
        .initialize()
        .on_user()
        .step(grandchild)
        .step(EngineStep::Crash(9));
    let engine = FakeEngine::script(&script).unwrap();
    let options = options.executable(Path::new(engine.program()));
    let options = engine
        .env()
        .iter()
        .fold(options, |options, (name, value)| options.env(name, value));
    // Its script is needed until the process is gone; its folder is in the place of the test.
    std::mem::forget(engine);
    options
}

fn scenario() -> Scenario {
    let long = "setsid sleep 3600 & sleep 3600 & echo $$ > started; wait";
    let behind = "(setsid sleep 3600 & sleep 3600 &) > /dev/null 2>&1; echo $$ > started";
    let bash = |command: &str| tool_use("Bash", json!({ "command": command }));
    Scenario::new()
        .on(last_user_contains(Way::Done.words()))
        .always()
        .reply(bash(behind))
        .on(last_user_contains(Way::Closed.words()))
        .always()
        .reply(bash(long))
        .on(tool_result_contains(""))
        .always()
        .reply(text("that was it"))
        .on(any())
        .always()
        .reply(text("said"))
}
