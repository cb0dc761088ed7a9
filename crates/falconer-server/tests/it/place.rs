//! A store, a directory to work in, and servers on them, with the native engine on a scripted
//! model.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use falconer::Options;
use falconer_event::Run;
use falconer_hub::{EngineName, Engines, Hub, HubConfig, Launch, LaunchError};
use falconer_native::{NativeEngine, Scenario};
use falconer_scenario::{any, last_user_contains, text, tool_result_contains, tool_use};
use falconer_server::{Scope, Server, ServerConfig};
use falconer_store::{SessionRecord, SqliteStore, Store};
use falconer_testkit::{EngineScript, FakeEngine};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// No wait of a test is longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A PNG of one pixel, in base64.
pub(crate) const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// What outlives a server.
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

    /// What an agent wrote.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.work().join(name)).ok()
    }

    pub(crate) fn config(&self) -> ServerConfig {
        let mut config = ServerConfig::new(SocketAddr::from(([127, 0, 0, 1], 0)));
        config.roots = vec![self.work()];
        config
    }

    pub(crate) async fn hub(&self) -> Hub {
        let store = SqliteStore::open(self.root.join("store.db")).await.unwrap();
        let engines = Scripted {
            home: self.root.join("home"),
        };
        let config = HubConfig::new(engines, self.root.join("locks"));
        let store: Arc<dyn Store> = Arc::new(store);
        Hub::open(store, config).await.unwrap()
    }

    pub(crate) async fn serve(&self) -> Running {
        self.serve_with(|_| {}).await
    }

    pub(crate) async fn serve_with(&self, change: impl FnOnce(&mut ServerConfig)) -> Running {
        let mut config = self.config();
        change(&mut config);
        let hub = self.hub().await;
        let server = Server::bind(hub.clone(), config).await.unwrap();
        let token = server.make_token("anna", Scope::ALL).await.unwrap();
        let link = server.login_link().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = Running {
            address: server.address(),
            url: server.url(),
            token: token.reveal().to_owned(),
            link,
            client: client(),
            work: self.work(),
            hub,
            stop: Some(stop),
            task: None,
        };
        let task = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        Running {
            task: Some(task),
            ..running
        }
    }
}

pub(crate) fn client() -> reqwest::Client {
    // Another test may have been faster.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}

/// A server, and somebody who may do everything.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) link: String,
    pub(crate) client: reqwest::Client,
    pub(crate) hub: Hub,
    work: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<()>>,
}

impl Running {
    /// A request without a credential.
    pub(crate) fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, format!("{}{path}", self.url))
            .timeout(LIMIT)
    }

    /// A request with a token.
    pub(crate) fn with(&self, token: &str, method: Method, path: &str) -> RequestBuilder {
        self.bare(method, path).bearer_auth(token)
    }

    pub(crate) fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        self.with(&self.token, method, path)
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        good(self.ask(Method::GET, path).send().await.unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        good(
            self.ask(Method::POST, path)
                .json(&body)
                .send()
                .await
                .unwrap(),
        )
        .await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Value {
        good(
            self.ask(Method::PATCH, path)
                .json(&body)
                .send()
                .await
                .unwrap(),
        )
        .await
    }

    /// Makes a token with these scopes.
    pub(crate) async fn token(&self, name: &str, scopes: &[&str]) -> String {
        let made = self
            .post("/v1/tokens", json!({"name": name, "scopes": scopes}))
            .await;
        made["secret"].as_str().unwrap().to_owned()
    }

    /// A session, and the path of it.
    pub(crate) async fn session(&self) -> String {
        let asked = json!({"engine": "script", "cwd": self.work});
        let session = self.post("/v1/sessions", asked).await;
        session["url"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn send(&self, session: &str, text: &str) -> Value {
        let id = uuid::Uuid::new_v4().to_string();
        let message = json!({"client_msg_id": id, "text": text});
        self.post(&format!("{session}/messages"), message).await
    }

    /// Waits until a session is in this state.
    pub(crate) async fn state(&self, session: &str, state: &str) -> Value {
        self.until(|| async {
            let found = self.get(session).await;
            (found["state"] == state).then_some(found)
        })
        .await
    }

    /// Waits until so many turns of a session are over and it waits for the next.
    pub(crate) async fn turns(&self, session: &str, turns: usize) -> Value {
        let path = format!("{session}/events?types=turn.completed");
        self.until(|| async {
            let over = self.get(&path).await["events"].as_array().unwrap().len();
            let found = self.get(session).await;
            (over >= turns && found["state"] == "ready").then_some(found)
        })
        .await
    }

    /// The request that is open in a session.
    pub(crate) async fn request(&self, session: &str) -> Value {
        let id = session.rsplit('/').next().unwrap();
        self.until(|| async {
            let open = self.get(&format!("/v1/requests?session={id}")).await;
            open["requests"].get(0).cloned()
        })
        .await
    }

    pub(crate) async fn answer(&self, request: &Value, verdict: Value) -> Response {
        self.answer_as(&self.token, request, verdict).await
    }

    pub(crate) async fn answer_as(&self, token: &str, request: &Value, verdict: Value) -> Response {
        let path = format!("/v1/requests/{}/answer", request["id"].as_str().unwrap());
        let body = json!({"digest": request["digest"], "verdict": verdict});
        self.with(token, Method::POST, &path)
            .json(&body)
            .send()
            .await
            .unwrap()
    }

    /// All events of a session, each exactly as it is stored.
    pub(crate) async fn log(&self, session: &str) -> Vec<String> {
        let path = format!("{session}/export?format=jsonl");
        let text = self
            .ask(Method::GET, &path)
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Looks again after every change of the store until there is something.
    pub(crate) async fn until<T, F>(&self, mut test: impl FnMut() -> F) -> T
    where
        F: Future<Output = Option<T>>,
    {
        let mut watcher = self.hub.store().watch();
        tokio::time::timeout(LIMIT, async {
            loop {
                if let Some(found) = test().await {
                    return found;
                }
                watcher.changed().await.unwrap();
            }
        })
        .await
        .expect("it comes to that in time")
    }

    /// Trades the code of the link for a cookie.
    pub(crate) async fn cookie(&self) -> String {
        let code = self.link.split_once("#code=").unwrap().1;
        let login = self
            .bare(Method::POST, "/v1/login")
            .json(&json!({"code": code}));
        let response = login.send().await.unwrap();
        assert_eq!(response.status(), 204);
        let cookie = response.headers()["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Ends the server and its agents.
    pub(crate) async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        let task = self.task.take().unwrap();
        tokio::time::timeout(LIMIT, task).await.unwrap().unwrap();
        self.hub.shut_down().await;
        self.hub.store().close().await.unwrap();
    }
}

/// The body of an answer that is no error.
pub(crate) async fn good(response: Response) -> Value {
    let status = response.status();
    let text = response.text().await.unwrap();
    assert!(status.is_success(), "{status}: {text}");
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// The body of an error, which has the form all errors have.
pub(crate) async fn problem(response: Response, status: u16, code: &str) -> Value {
    let found = response.status();
    let kind = response.headers().get("content-type").cloned();
    let text = response.text().await.unwrap();
    assert_eq!(found, status, "{text}");
    assert_eq!(kind.unwrap(), "application/problem+json", "{text}");
    let problem: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(problem["code"], code, "{text}");
    assert_eq!(problem["status"], status);
    for field in ["type", "title", "detail"] {
        assert!(problem[field].is_string(), "{field} in {text}");
    }
    problem
}

/// The native engine with a model that says the same to the same.
struct Scripted {
    home: PathBuf,
}

fn only_script() -> LaunchError {
    let text = "there is only `script`";
    LaunchError::new(LaunchError::UNKNOWN, text, "ask for `script`")
}

impl Engines for Scripted {
    fn launch(&self, session: &SessionRecord) -> Result<Launch, LaunchError> {
        if session.engine == "missing" {
            let text = "it is not installed";
            return Err(LaunchError::new("engine_not_usable", text, "install it"));
        }
        if session.engine == "late" {
            return Ok(late(&self.home));
        }
        let scenario = match session.engine.strip_prefix("long-") {
            Some(calls) => long(calls.parse().unwrap()),
            None => scenario(),
        };
        if session.engine != "script" && !session.engine.starts_with("long-") {
            return Err(only_script());
        }
        Ok(scripted(&self.home, scenario))
    }

    fn profile_asks_less(&self, profile: &str) -> Result<bool, LaunchError> {
        match profile {
            "careful" => Ok(false),
            "wide" => Ok(true),
            _ => Err(LaunchError::new(
                LaunchError::PROFILE,
                "it is not listed",
                "list it",
            )),
        }
    }

    fn knows(&self, engine: &str) -> Result<(), LaunchError> {
        if ["script", "late", "missing"].contains(&engine) || engine.starts_with("long-") {
            return Ok(());
        }
        Err(only_script())
    }

    fn names(&self) -> Vec<EngineName> {
        vec![EngineName::available("script", "it is a test")]
    }
}

/// The native engine on this model, with nothing of the machine around it.
pub(crate) fn scripted(home: &Path, scenario: Scenario) -> Launch {
    let options = Options::new()
        .env_clear()
        .env_inherit("PATH")
        .env("HOME", home)
        .env("TMPDIR", home)
        .engine(NativeEngine::scripted(scenario));
    let mut about = Run::default();
    about.engine = "script".to_owned();
    Launch::new(options, about)
}

/// An engine process that asks for a permission when its turn is over, as a sub-agent in the
/// background does.
fn late(home: &Path) -> Launch {
    let asks = EngineScript::can_use_tool("Bash", json!({"command": "echo late"}));
    let script = EngineScript::new()
        .initialize()
        .on_user()
        .turn("over")
        .ask(asks)
        .turn("late");
    let engine = FakeEngine::script(&script).unwrap();
    let options = Options::new()
        .executable(engine.program())
        .env_clear()
        .env_inherit("PATH")
        .env("HOME", home);
    let options = engine
        .env()
        .iter()
        .fold(options, |options, (name, value)| options.env(name, value));
    // Its script is needed until the process is gone; the directory goes with the test's.
    std::mem::forget(engine);
    let mut about = Run::default();
    about.engine = "late".to_owned();
    Launch::new(options, about)
}

fn bash(command: &str) -> falconer_scenario::MessageReply {
    tool_use("Bash", json!({ "command": command }))
}

/// One turn with so many calls of a tool, and one more that has to be asked about.
fn long(calls: u32) -> Scenario {
    let go_on = || bash("sleep 0.05");
    Scenario::new()
        .on(tool_result_contains(""))
        .times(calls - 1)
        .reply(go_on())
        .on(tool_result_contains(""))
        .times(1)
        .reply(bash("echo one > one.txt"))
        .on(tool_result_contains(""))
        .always()
        .reply(text("done"))
        .on(any())
        .always()
        .reply(go_on())
}

/// Nothing is counted, so a model that is started again goes on as if it had not been.
fn scenario() -> Scenario {
    let long = (0..400)
        .map(|word| format!("word{word} "))
        .collect::<String>();
    Scenario::new()
        .on(tool_result_contains(""))
        .always()
        .reply(text("done"))
        .on(last_user_contains("write one"))
        .always()
        .reply(bash("echo one > one.txt"))
        .on(last_user_contains("write two"))
        .always()
        .reply(bash("echo two > two.txt"))
        .on(last_user_contains("write three"))
        .always()
        .reply(bash("sh -c 'echo three > three.txt'"))
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
        .on(last_user_contains("hostile"))
        .always()
        .reply(text("<script>alert(1)</script> ![x](https://evil.example/p.png)"))
        .on(last_user_contains("say it slowly"))
        .always()
        .reply(text(long.chars().take(2_000).collect::<String>()).delta_chars(20).delta_delay(Duration::from_millis(20)))
        .on(last_user_contains("say much"))
        .always()
        .reply(text(&long))
        .on(last_user_contains("wait"))
        .always()
        .reply(falconer_scenario::hang())
        .on(any())
        .always()
        .reply(text("said"))
}
