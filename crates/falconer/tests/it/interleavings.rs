//! Requests, answers, cancels and ends in any order: exactly one answer each, nothing leaks,
//! nobody waits for ever.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use falconer::{Client, Decision, EngineEnd, Options, PermissionRequest, channel};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::scripted::{can_use_bash, hello_payload};

/// One thing that happens.
#[derive(Debug, Clone)]
enum Step {
    /// The engine asks; the command says how the handler behaves.
    Ask(Behaviour),
    /// The engine takes back one of its questions.
    Cancel(usize),
    /// The engine says something to the caller.
    Message,
    /// The host asks the engine something.
    HostAsks,
    /// The engine answers the oldest question of the host.
    EngineAnswers,
    /// Everyone gets to run.
    Breathe,
}

#[derive(Debug, Clone, Copy)]
enum Behaviour {
    Instant,
    AfterYields,
    Panics,
    Hangs,
    TimesOut,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    HostCloses,
    EngineLeaves,
    HostDrops,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop_oneof![
            Just(Behaviour::Instant), Just(Behaviour::AfterYields), Just(Behaviour::Panics),
            Just(Behaviour::Hangs), Just(Behaviour::TimesOut),
        ].prop_map(Step::Ask),
        2 => (0usize..8).prop_map(Step::Cancel),
        1 => Just(Step::Message),
        1 => Just(Step::HostAsks),
        1 => Just(Step::EngineAnswers),
        3 => Just(Step::Breathe),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        Just(End::HostCloses),
        Just(End::EngineLeaves),
        Just(End::HostDrops)
    ]
}

async fn handle(request: PermissionRequest) -> Decision {
    match request.input()["command"].as_str().unwrap_or_default() {
        "AfterYields" => {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            Decision::allow()
        }
        "Panics" => panic!("a handler that panics"),
        "Hangs" => std::future::pending().await,
        "TimesOut" => {
            tokio::time::sleep(Duration::from_secs(100_000)).await;
            Decision::allow()
        }
        _ => Decision::allow(),
    }
}

fn hello(id: &Value) -> String {
    let reply = json!({ "type": "control_response", "response": { "subtype": "success",
        "request_id": id, "response": hello_payload() } });
    format!("{reply}\n")
}

/// The engine's side: everything the host writes is collected while the steps go on.
struct Engine {
    to_host: mpsc::UnboundedSender<String>,
    pump: JoinHandle<Vec<Value>>,
}

impl Engine {
    fn start(mut end: EngineEnd) -> Self {
        let (to_host, mut outgoing) = mpsc::unbounded_channel::<String>();
        let pump = tokio::spawn(async move {
            let mut heard = Vec::new();
            loop {
                tokio::select! {
                    line = end.recv() => {
                        let Some(line) = line else { return heard };
                        let line: Value = serde_json::from_slice(&line).unwrap();
                        if line["request"]["subtype"] == "initialize" {
                            let _ = end.send(hello(&line["request_id"])).await;
                        }
                        heard.push(line);
                    }
                    line = outgoing.recv() => {
                        let Some(line) = line else { return heard };
                        if end.send(line).await.is_err() {
                            return heard;
                        }
                    }
                }
            }
        });
        Self { to_host, pump }
    }

    fn say(&self, message: &Value) {
        let _ = self.to_host.send(format!("{message}\n"));
    }
}

/// Plays the steps; returns what was asked, what was taken back, and what the host wrote.
async fn play(steps: &[Step], ending: End) -> (Vec<String>, BTreeSet<String>, Vec<Value>) {
    let (transport, end) = channel();
    let engine = Engine::start(end);
    let options = Options::new()
        .on_permission(handle)
        .permission_timeout(Duration::from_secs(1000))
        .request_timeout(Duration::from_secs(1000));
    let (client, messages) = Client::connect_through(transport, options).await.unwrap();
    let (mut asked, mut cancelled) = (Vec::new(), BTreeSet::new());
    let mut host_asks: Vec<JoinHandle<bool>> = Vec::new();
    let mut answered = 1;
    for step in steps {
        match step {
            Step::Ask(behaviour) => {
                let id = format!("q{}", asked.len());
                let request = can_use_bash(&format!("{behaviour:?}"));
                engine.say(&json!({ "type": "control_request", "request_id": id,
                                    "request": request }));
                asked.push(id);
            }
            Step::Cancel(index) => {
                if let Some(id) = asked.get(*index) {
                    engine.say(&json!({ "type": "control_cancel_request", "request_id": id }));
                    cancelled.insert(id.clone());
                }
            }
            Step::Message => engine.say(&json!({ "type": "novel" })),
            Step::HostAsks => {
                let client = client.clone();
                host_asks.push(tokio::spawn(
                    async move { client.interrupt().await.is_ok() },
                ));
            }
            Step::EngineAnswers => {
                answered += 1;
                engine.say(&json!({ "type": "control_response", "response": {
                    "subtype": "success", "request_id": format!("falconer-{answered}"),
                    "response": { "still_queued": [] } } }));
            }
            Step::Breathe => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
    tokio::time::sleep(Duration::from_millis(1)).await;
    let heard = match ending {
        End::HostCloses => {
            client.close().await.unwrap();
            engine.pump.await.unwrap()
        }
        End::EngineLeaves => {
            drop(engine.to_host);
            engine.pump.await.unwrap()
        }
        End::HostDrops => {
            for asking in &host_asks {
                asking.abort();
            }
            drop((client, messages));
            engine.pump.await.unwrap()
        }
    };
    for asking in host_asks {
        // Answered, refused by the end, or cancelled with the drop: but finished.
        let _ = tokio::time::timeout(Duration::from_secs(2000), asking)
            .await
            .expect("the host waits for ever");
    }
    (asked, cancelled, heard)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_request_is_answered_once_and_nothing_is_left(
        steps in prop::collection::vec(step(), 0..40),
        ending in end(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        let (asked, cancelled, heard) = runtime.block_on(play(&steps, ending));
        let mut answers: BTreeMap<String, usize> = BTreeMap::new();
        for line in heard.iter().filter(|line| line["type"] == "control_response") {
            let id = line["response"]["request_id"].as_str().unwrap().to_owned();
            *answers.entry(id).or_default() += 1;
        }
        for id in &asked {
            let count = answers.remove(id).unwrap_or(0);
            prop_assert!(count <= 1, "{id} was answered {count} times");
            if ending == End::HostCloses && !cancelled.contains(id) {
                prop_assert_eq!(count, 1, "{} was not answered", id);
            }
        }
        prop_assert!(answers.is_empty(), "answers to nobody: {answers:?}");
        // Cancelled tasks are taken down when they are next polled.
        runtime.block_on(async {
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
        });
        prop_assert_eq!(runtime.handle().metrics().num_alive_tasks(), 0, "a task is left");
    }
}
