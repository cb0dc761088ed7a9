//! A server in a process of its own, so that it can be killed, and a way to reach it that
//! outlives it.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use falconer_hub::{Engines, Hub, HubConfig};
use falconer_server::{Scope, Server};
use falconer_store::SqliteStore;
use reqwest::Method;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::watch;

use crate::place::{Place, client};
use crate::sse::Stream;

/// Where a server apart finds its place.
const ROOT: &str = "FALCONER_SERVER_APART_ROOT";
/// No wait for a server is longer, whatever else the machine does.
pub(crate) const PATIENCE: Duration = Duration::from_secs(150);

/// Serves until this process is killed, if it was started for that.
pub(crate) async fn serve_if_asked<E: Engines>(engines: impl FnOnce(PathBuf) -> E) {
    let Some(root) = std::env::var_os(ROOT) else {
        return;
    };
    let place = Place::at(&root);
    let store = SqliteStore::open(place.root().join("store.db"));
    let engines = engines(place.root().join("home"));
    let config = HubConfig::new(engines, place.root().join("locks"));
    let hub = Hub::open(std::sync::Arc::new(store.await.unwrap()), config);
    let server = Server::bind(hub.await.unwrap(), place.config());
    let server = server.await.unwrap();
    let token = server.make_token("anna", Scope::ALL).await.unwrap();
    println!("\nREADY {} {}", server.url(), token.reveal());
    std::thread::spawn(|| {
        // Whoever started this is gone at the end of the input: nobody else would end it.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    server.run(std::future::pending()).await;
}

/// What a server says. It is kept open: a test that runs for long says so, and dies if it
/// cannot.
type Output = Lines<BufReader<ChildStdout>>;

/// A server in a process of its own.
pub(crate) struct Apart {
    pub(crate) place: Place,
    test: &'static str,
    /// The variable that everything it starts inherits.
    marker: String,
    child: Option<(Child, Output)>,
    door: watch::Sender<String>,
    token: String,
}

impl Apart {
    /// Starts the test of this name again, as the server.
    pub(crate) async fn start(test: &'static str) -> Self {
        let mut apart = Self {
            place: Place::new(),
            test,
            marker: format!("FALCONER_RUN_{}", uuid::Uuid::new_v4().simple()),
            child: None,
            door: watch::Sender::new(String::new()),
            token: String::new(),
        };
        apart.token = apart.open().await;
        apart
    }

    /// Starts a server and says where it is. The token is one of many; all of them hold.
    async fn open(&mut self) -> String {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", self.test, "--nocapture"])
            .env(ROOT, self.place.root())
            .env("TMPDIR", self.place.root().join("home"))
            .env(&self.marker, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = async {
            loop {
                let line = lines.next_line().await.unwrap();
                let line = line.expect("the server says where it is before it ends");
                if let Some((_, rest)) = line.split_once("READY ") {
                    return rest.to_owned();
                }
            }
        };
        let ready = tokio::time::timeout(PATIENCE, ready).await.unwrap();
        let (url, token) = ready.split_once(' ').unwrap();
        self.child = Some((child, lines));
        self.door.send_replace(url.to_owned());
        token.to_owned()
    }

    /// `kill -9`.
    pub(crate) async fn kill(&mut self) {
        let (mut child, _output) = self.child.take().expect("it runs");
        child.kill().await.unwrap();
    }

    /// Another one on the same store, after the last one was killed.
    pub(crate) async fn replace_dead(&mut self) {
        assert!(self.child.is_none(), "one at a time");
        self.open().await;
    }

    /// `kill -9`, and another one on the same store.
    pub(crate) async fn replace(&mut self) {
        self.kill().await;
        self.replace_dead().await;
    }

    pub(crate) fn reach(&self) -> Reach {
        Reach {
            client: client(),
            door: self.door.subscribe(),
            token: self.token.clone(),
        }
    }

    /// Everything that lives of what its servers started, and their servers.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let entry = format!("{}=1", self.marker);
        processes_where(|pid| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ
                .split(|byte| *byte == 0)
                .any(|variable| variable == entry.as_bytes())
        })
    }

    /// Waits until nothing is left of a server that was killed.
    pub(crate) async fn leaves_nothing(&self) {
        until("nothing is left", || self.processes().is_empty()).await;
    }
}

/// The living processes like that.
pub(crate) fn processes_where(keep: impl Fn(u32) -> bool) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| keep(*pid) && !is_zombie(*pid)).collect()
}

fn is_zombie(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit(')').next().unwrap_or_default();
    rest.trim_start().starts_with(['Z', 'X'])
}

/// Looks again and again until it is so: `/proc` and files tell nobody when they change.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let looking = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let found = tokio::time::timeout(PATIENCE, looking).await;
    assert!(found.is_ok(), "it does not come to that: {what}");
}

/// A way to whichever server is there.
#[derive(Clone)]
pub(crate) struct Reach {
    client: reqwest::Client,
    door: watch::Receiver<String>,
    token: String,
}

impl Reach {
    /// A way to a server that stays where it is.
    pub(crate) fn at(url: &str, token: &str) -> Self {
        Self {
            client: client(),
            door: watch::Sender::new(url.to_owned()).subscribe(),
            token: token.to_owned(),
        }
    }

    /// The same way, for somebody else.
    pub(crate) fn by(&self, token: &str) -> Self {
        Self {
            token: token.to_owned(),
            ..self.clone()
        }
    }

    /// Asks until somebody has answered: a server that is killed meanwhile says nothing.
    pub(crate) async fn ask(&self, method: Method, path: &str, body: &Value) -> (u16, String) {
        let asking = async {
            let mut door = self.door.clone();
            loop {
                let url = format!("{}{path}", *door.borrow_and_update());
                let mut request = self.client.request(method.clone(), url);
                if method != Method::GET {
                    request = request.json(body);
                }
                let answer = request.bearer_auth(&self.token).send().await;
                if let Ok(answer) = answer {
                    let status = answer.status().as_u16();
                    if let Ok(text) = answer.text().await {
                        return (status, text);
                    }
                }
                pause(&mut door).await;
            }
        };
        let answer = tokio::time::timeout(PATIENCE, asking).await;
        let (status, text) = answer.unwrap_or_else(|_| panic!("nobody answers at {path}"));
        assert!(status < 500, "{method} {path}: {status} {text}");
        (status, text)
    }

    /// What is there, which must be there.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, text) = self.ask(Method::GET, path, &Value::Null).await;
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let (status, text) = self.ask(Method::POST, path, &body).await;
        assert!(status < 300, "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// Follows a path after this event; `None` if nobody is there at the moment.
    pub(crate) async fn follow(&self, path: &str, after: u64) -> Option<Stream> {
        let mut door = self.door.clone();
        let url = format!("{}{path}", *door.borrow_and_update());
        let mut request = self.client.get(url).bearer_auth(&self.token);
        if after > 0 {
            request = request.header("last-event-id", after.to_string());
        }
        match request.send().await {
            Ok(response) => {
                assert_eq!(response.status(), 200, "{path}");
                Some(Stream::of(response))
            }
            Err(_) => {
                pause(&mut door).await;
                None
            }
        }
    }
}

/// Nobody is there: soon there is another server, or it was only this connection.
async fn pause(door: &mut watch::Receiver<String>) {
    let _ = tokio::time::timeout(Duration::from_millis(50), door.changed()).await;
}
