//! A proxy that cuts every connection after a while, and a long turn behind it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::apart::{PATIENCE, Reach};
use crate::place::Place;
use crate::soak::LONG;
use crate::soak::view::View;

/// A proxy that has an address and nothing behind it yet.
pub(crate) struct Bound {
    listener: TcpListener,
    after: Duration,
}

/// A proxy that cuts every connection, whatever is under way on it.
pub(crate) struct Cutting {
    address: SocketAddr,
    cuts: Arc<AtomicUsize>,
    _serving: JoinSet<()>,
}

impl Cutting {
    /// One that will cut after this time.
    pub(crate) async fn bind(after: Duration) -> Bound {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Bound { listener, after }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many connections were cut.
    pub(crate) fn cuts(&self) -> usize {
        self.cuts.load(Ordering::Relaxed)
    }
}

impl Bound {
    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    /// Passes everything on to this server from now on.
    pub(crate) fn between(self, server: SocketAddr) -> Cutting {
        let address = self.address();
        let cuts = Arc::new(AtomicUsize::new(0));
        let counted = cuts.clone();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((client, _)) = self.listener.accept().await {
                open.spawn(pass(client, server, self.after, counted.clone()));
                while open.try_join_next().is_some() {}
            }
        });
        Cutting {
            address,
            cuts,
            _serving: serving,
        }
    }
}

async fn pass(mut client: TcpStream, server: SocketAddr, after: Duration, cuts: Arc<AtomicUsize>) {
    let passing = async {
        let mut server = TcpStream::connect(server).await?;
        tokio::io::copy_bidirectional(&mut client, &mut server).await
    };
    if tokio::time::timeout(after, passing).await.is_err() {
        cuts.fetch_add(1, Ordering::Relaxed);
    }
}

/// How long the turn is, in calls of a tool, and how often it is cut. At its full size it is cut
/// as often as one of three hours behind a proxy that cuts after thirty seconds.
#[derive(Debug, Clone, Copy)]
struct Size {
    calls: usize,
    cut: Duration,
    cuts: usize,
}

impl Size {
    fn asked_for() -> Self {
        match std::env::var_os(LONG) {
            Some(_) => Self {
                calls: 1_600,
                cut: Duration::from_millis(400),
                cuts: 360,
            },
            None => Self {
                calls: 45,
                cut: Duration::from_millis(150),
                cuts: 12,
            },
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_turn_behind_a_proxy_that_cuts_every_request_completes() {
    let size = Size::asked_for();
    let place = Place::new();
    let cutting = Cutting::bind(size.cut).await;
    let name = cutting.address().to_string();
    let server = place
        .serve_with(|config| config.host_names.push(name))
        .await;
    let cutting = cutting.between(server.address);
    let engine = format!("long-{}", size.calls);
    let through = Reach::at(&cutting.url(), &server.token);
    let session = through.post(
        "/v1/sessions",
        json!({"engine": engine, "cwd": place.work()}),
    );
    let session = session.await;
    let (id, session) = (session["id"].clone(), session["url"].as_str().unwrap());
    let rule =
        json!({"text": "Bash(sleep:*)", "effect": "allow", "scope": {"type": "session", "id": id}});
    through.post("/v1/rules", rule).await;
    let message = json!({"client_msg_id": "1", "text": "go on"});
    through.post(&format!("{session}/messages"), message).await;

    let mut view = View::default();
    let is_over = |view: &View| {
        let last = view.log.last();
        last.is_some_and(|line| line.contains("\"turn.completed\""))
    };
    let following = async {
        while !is_over(&view) {
            let path = format!("{session}/stream");
            let Some(mut wire) = through.follow(&path, view.last()).await else {
                continue;
            };
            while let Some(told) = wire.next().await {
                answer(&through, view.take(told)).await;
                if is_over(&view) {
                    break;
                }
            }
        }
    };
    let limit = PATIENCE
        * if std::env::var_os(LONG).is_some() {
            6
        } else {
            1
        };
    tokio::time::timeout(limit, following).await.unwrap();
    assert!(cutting.cuts() >= size.cuts, "{} cuts", cutting.cuts());
    let end: Value = serde_json::from_str(view.log.last().unwrap()).unwrap();
    assert_eq!(end["data"]["failure"], Value::Null, "{end}");
    let calls = view.log.iter().filter(|line| is_call(line)).count();
    assert_eq!(calls, size.calls + 1, "each was made once");
    assert_eq!(place.read("one.txt").as_deref(), Some("one\n"));
    let stored = server.log(session).await;
    assert_eq!(view.log, stored[..view.log.len()], "byte for byte");
    let messages = server.get(&format!("{session}/messages")).await;
    assert_eq!(messages["messages"].as_array().unwrap().len(), 1);
    server.stop().await;
}

fn is_call(line: &str) -> bool {
    let event: Value = serde_json::from_str(line).unwrap();
    event["type"] == "item.completed" && event["data"]["content"]["type"] == "action"
}

/// What no rule answers is answered by a person, through the same proxy.
async fn answer(through: &Reach, event: Option<Value>) {
    let Some(event) = event.filter(|event| event["type"] == "permission.requested") else {
        return;
    };
    if event["data"]["input"]["command"] != "echo one > one.txt" {
        return;
    }
    let path = format!(
        "/v1/requests/{}/answer",
        event["data"]["id"].as_str().unwrap()
    );
    let body = json!({"digest": event["data"]["digest"], "verdict": {"type": "allow"}});
    // Said again after a cut it is refused, because it was taken before.
    let (status, text) = through.ask(Method::POST, &path, &body).await;
    assert!([200, 409].contains(&status), "{status} {text}");
}
