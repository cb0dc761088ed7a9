//! A store, a directory to work in and a home, and hubs on them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use falconer::Options;
use falconer_event::{Event, Run};
use falconer_hub::{
    EngineName, Engines, Hub, HubConfig, Launch, LaunchError, NewMessage, NewSession,
};
use falconer_native::{NativeEngine, Scenario};
use falconer_scenario::{any, last_user_contains, text, tool_result_contains, tool_use};
use falconer_store::{
    EventQuery, RequestQuery, RequestRecord, SessionId, SessionRecord, SessionState, SqliteStore,
    Store,
};
use serde_json::json;
use tempfile::TempDir;

/// No wait of a test is longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A PNG of one pixel, in base64.
pub(crate) const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub(crate) struct Place {
    root: PathBuf,
    _kept: Option<TempDir>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let root = kept.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("work")).unwrap();
        std::fs::create_dir(root.join("home")).unwrap();
        Self {
            root,
            _kept: Some(kept),
        }
    }

    /// A place that somebody else made, and removes.
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            _kept: None,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.work().join(name)).ok()
    }

    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        let store = SqliteStore::open(self.root.join("store.db")).await;
        Arc::new(store.unwrap())
    }

    pub(crate) fn config(&self) -> HubConfig {
        let engines = Scripted {
            home: self.root.join("home"),
        };
        HubConfig::new(engines, self.root.join("locks"))
    }

    /// With the model of the tests.
    pub(crate) fn scripted(&self, options: Options) -> Options {
        scripted(options, &self.root.join("home"))
    }

    pub(crate) async fn hub(&self) -> Hub {
        Hub::open(self.store().await, self.config()).await.unwrap()
    }

    pub(crate) async fn session(&self, hub: &Hub) -> SessionId {
        let new = NewSession::new("script", self.work());
        hub.create(new).await.unwrap().id
    }
}

/// The native engine with a model that says the same to the same.
struct Scripted {
    home: PathBuf,
}

impl Engines for Scripted {
    fn launch(&self, session: &SessionRecord) -> Result<Launch, LaunchError> {
        if session.engine != "script" {
            return Err(LaunchError::new(
                LaunchError::UNKNOWN,
                "there is only `script`",
                "ask for `script`",
            ));
        }
        let options = scripted(Options::new(), &self.home);
        let mut about = Run::default();
        about.engine = "script".to_owned();
        Ok(Launch::new(options, about))
    }

    fn names(&self) -> Vec<EngineName> {
        vec![
            EngineName::available("script", "it is a test"),
            EngineName::missing("teapot", "it cannot be started"),
        ]
    }
}

fn scripted(options: Options, home: &Path) -> Options {
    options
        .env_clear()
        .env_inherit("PATH")
        .env("HOME", home)
        .env("TMPDIR", home)
        .engine(NativeEngine::scripted(scenario()))
}

fn bash(command: &str) -> falconer_scenario::MessageReply {
    tool_use("Bash", json!({ "command": command }))
}

/// Nothing is counted, so a model that is started again goes on as if it had not been.
fn scenario() -> Scenario {
    Scenario::new()
        .on(tool_result_contains(""))
        .always()
        .reply(text("done"))
        .on(last_user_contains("write one"))
        .always()
        .reply(bash("truncate -s 1 one.txt"))
        .on(last_user_contains("write two"))
        .always()
        .reply(bash("truncate -s 2 two.txt"))
        .on(last_user_contains("look at the picture"))
        .always()
        .reply(tool_use("Read", json!({"file_path": "dot.png"})))
        .on(last_user_contains("ask me"))
        .always()
        .reply(tool_use(
            "AskUserQuestion",
            json!({"questions": [{
                "question": "Which colour?", "header": "Colour", "multiSelect": false,
                "options": [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}],
            }]}),
        ))
        .on(last_user_contains("wait"))
        .always()
        .reply(falconer_scenario::hang())
        .on(any())
        .always()
        .reply(text("said"))
}

pub(crate) async fn send(hub: &Hub, session: &SessionId, text: &str) -> String {
    let message = NewMessage::new(uuid(), text, "anna");
    hub.send(session, message)
        .await
        .unwrap()
        .message
        .id
        .to_string()
}

pub(crate) fn uuid() -> String {
    SessionId::generate().to_string()
}

/// Waits until something about the store is so.
pub(crate) async fn until<T, F>(hub: &Hub, what: &str, mut test: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let mut watcher = hub.store().watch();
    let waited = tokio::time::timeout(LIMIT, async {
        loop {
            if let Some(found) = test().await {
                return found;
            }
            watcher.changed().await.expect("the store is open");
        }
    });
    waited
        .await
        .unwrap_or_else(|_| panic!("not within {LIMIT:?}: {what}"))
}

pub(crate) async fn state(hub: &Hub, session: &SessionId, state: SessionState) -> SessionRecord {
    let store = hub.store();
    let what = format!("session is {state}");
    until(hub, &what, || async {
        let record = store.session(session).await.unwrap();
        (record.state == state).then_some(record)
    })
    .await
}

/// The request that is open.
pub(crate) async fn open_request(hub: &Hub, session: &SessionId) -> RequestRecord {
    let store = hub.store();
    until(hub, "something is asked", || async {
        let pending = RequestQuery::pending().session(session.clone());
        store.requests(pending).await.unwrap().pop()
    })
    .await
}

pub(crate) async fn events(hub: &Hub, session: &SessionId) -> Vec<Event> {
    let query = EventQuery::after(0).limit(1_000);
    let page = hub.store().events(session, query).await.unwrap();
    assert!(!page.more);
    let events = page.events.iter().enumerate().map(|(at, row)| {
        let event: Event = serde_json::from_str(&row.json).unwrap();
        assert_eq!((event.seq, row.seq), (at as u64 + 1, at as u64 + 1));
        assert_eq!(event.body.kind(), row.kind);
        assert_eq!(event.session, session.as_str());
        event
    });
    events.collect()
}

pub(crate) fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(|event| event.body.kind()).collect()
}
