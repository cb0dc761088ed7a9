//! What `falconer::ordering` says about messages, requests and handlers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use falconer::{Client, Decision, Message, Options, PermissionRequest};
use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::scripted::{Scripted, can_use_bash};

fn call() -> Value {
    json!({ "type": "assistant", "session_id": "s", "message": { "id": "m", "type": "message",
        "role": "assistant", "model": "x", "content": [{ "type": "tool_use", "id": "toolu_1",
        "name": "Bash", "input": { "command": "ls" } }] } })
}

fn ask(id: &str) -> Value {
    json!({ "type": "control_request", "request_id": id, "request": can_use_bash("ls") })
}

/// Tells that a handler's future is gone.
struct Gone(Arc<Notify>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn a_handler_starts_when_the_messages_before_its_request_can_be_read() {
    let started = Arc::new(Notify::new());
    let starting = started.clone();
    let options = Options::new().on_permission(move |_: PermissionRequest| {
        starting.notify_one();
        std::future::pending::<Decision>()
    });
    let (_client, mut messages, engine) = Scripted::connect(options).await;
    // In one piece, so that one read brings all three.
    let late = json!({ "type": "novel" });
    engine
        .say_text(format!("{}\n{}\n{late}\n", call(), ask("q1")))
        .await;
    started.notified().await;
    let first = messages.next().now_or_never().flatten();
    assert!(
        matches!(first, Some(Ok(Message::Assistant(_)))),
        "{first:?}"
    );
}

#[tokio::test]
async fn an_answer_arrives_when_the_messages_before_it_can_be_read() {
    let (client, mut messages, mut engine) = Scripted::connect(Options::new()).await;
    let asking = tokio::spawn(async move { client.interrupt().await });
    let request = engine.hear().await.expect("the interrupt");
    let answer = json!({ "type": "control_response", "response": { "subtype": "success",
        "request_id": request["request_id"], "response": { "still_queued": [] } } });
    engine.say_text(format!("{}\n{answer}\n", call())).await;
    asking.await.expect("no panic").expect("an answer");
    let first = messages.next().now_or_never().flatten();
    assert!(
        matches!(first, Some(Ok(Message::Assistant(_)))),
        "{first:?}"
    );
}

/// A client that handlers can reach, a sign that the handler is gone, and whether it got past
/// its call of the client.
#[derive(Default, Clone)]
struct Inside {
    client: Arc<OnceLock<Client>>,
    gone: Arc<Notify>,
    went_on: Arc<AtomicBool>,
}

impl Inside {
    fn options<F, Fut>(&self, act: F) -> Options
    where
        F: Fn(Client) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let inside = self.clone();
        Options::new().on_permission(move |_: PermissionRequest| {
            let (inside, act) = (inside.clone(), act.clone());
            async move {
                let _gone = Gone(inside.gone.clone());
                act(inside.client.get().expect("connected").clone()).await;
                inside.went_on.store(true, Ordering::Relaxed);
                Decision::allow()
            }
        })
    }
}

#[tokio::test]
async fn a_handler_that_interrupts_its_own_turn_is_dropped_before_the_answer() {
    let inside = Inside::default();
    let options = inside.options(|client| async move { drop(client.interrupt().await) });
    let (client, _messages, mut engine) = Scripted::connect(options).await;
    inside.client.set(client).expect("set once");
    engine.ask_bash("q1", "ls").await;
    let interrupt = engine.hear().await.expect("the interrupt");
    engine
        .say(&json!({ "type": "control_cancel_request", "request_id": "q1" }))
        .await;
    engine
        .done(&interrupt["request_id"], &json!({ "still_queued": [] }))
        .await;
    inside.gone.notified().await;
    assert!(!inside.went_on.load(Ordering::Relaxed));
}

#[tokio::test]
async fn closing_in_a_handler_ends_the_handler_and_not_the_session() {
    let inside = Inside::default();
    let options = inside.options(|client| async move { drop(client.close().await) });
    let (client, _messages, mut engine) = Scripted::connect(options).await;
    inside.client.set(client.clone()).expect("set once");
    engine.ask_bash("q1", "ls").await;
    let answer = engine.answer_to("q1").await;
    assert_eq!(answer["response"]["behavior"], "deny");
    inside.gone.notified().await;
    assert!(!inside.went_on.load(Ordering::Relaxed));
    // The input is still open.
    client
        .send("still there?")
        .await
        .expect("the session is open");
    engine.prompt().await;
}

#[tokio::test]
async fn after_the_end_of_the_input_an_answer_has_nowhere_to_go() {
    let release = Arc::new(Notify::new());
    let (waiting, gone) = (release.clone(), Arc::new(Notify::new()));
    let tell = gone.clone();
    let options = Options::new().on_permission(move |_: PermissionRequest| {
        let (waiting, gone) = (waiting.clone(), Gone(tell.clone()));
        async move {
            waiting.notified().await;
            drop(gone);
            Decision::allow()
        }
    });
    let (client, _messages, mut engine) = Scripted::connect(options).await;
    engine.ask_bash("q1", "ls").await;
    client.end_input();
    release.notify_one();
    gone.notified().await;
    assert_eq!(
        engine.hear().await,
        None,
        "the engine must take this for a denial"
    );
}
