//! What the user says is on the record: accepted, sent, or taken back.

use std::time::Duration;

use falconer_event::{Attachment, Body, Delivery, Event, ItemContent, Outcome, PromptState};
use falconer_session::{
    Cancelled, CommandInfo, Error, Limits, Message, ModelInfo, Session, SessionSpec,
};
use serde_json::json;
use uuid::Uuid;

use crate::scripted::{Scripted, Stage, class, completed, locks};

/// Id, state, text and delivery of every item that is a prompt, with whether it was completed.
fn prompts(events: &[Event]) -> Vec<(String, PromptState, bool)> {
    let items = events.iter().filter_map(|event| match &event.body {
        Body::ItemStarted(item) => Some((item, false)),
        Body::ItemCompleted(item) => Some((item, true)),
        _ => None,
    });
    let prompts = items.filter_map(|(item, done)| match &item.content {
        ItemContent::Prompt(prompt) => Some((item.id.to_string(), prompt.state, done)),
        _ => None,
    });
    prompts.collect()
}

/// Every prompt that began is completed, whatever happened.
fn nothing_stays_open(events: &[Event]) {
    let all = prompts(events);
    for (id, _, _) in &all {
        let begun = all.iter().filter(|(other, _, done)| other == id && !done);
        let ended = all.iter().filter(|(other, _, done)| other == id && *done);
        assert_eq!(begun.count(), 1, "{all:?}");
        assert!(ended.count() >= 1, "{all:?}");
    }
}

fn states(events: &[Event], id: &str) -> Vec<PromptState> {
    let all = prompts(events).into_iter();
    all.filter(|(other, _, _)| other == id)
        .map(|(_, state, _)| state)
        .collect()
}

#[tokio::test]
async fn a_prompt_is_told_with_its_own_id_before_its_turn() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    let id = Uuid::new_v4();
    let message = Message::new("hello")
        .id(id)
        .by("anna")
        .attachments([Attachment::new("cat.png", "image/png", 7)]);
    let sent = stage.session.post(message.clone()).await.unwrap();
    assert_eq!(sent.as_str(), id.to_string());
    let (wire, _) = stage.engine.prompt().await;
    assert_eq!(wire, id.to_string());
    // The same once more is the same message.
    assert_eq!(stage.session.post(message).await.unwrap(), sent);
    let init = json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": "s",
        "user_message_uuids": [wire]});
    stage.engine.say(&init).await;
    stage.engine.result("hi", &[&wire]).await;
    let events = stage.rest().await;
    assert_eq!(completed(&events).outcome, Outcome::Ok);
    assert_eq!(
        states(&events, sent.as_str()),
        [PromptState::Queued, PromptState::Sent]
    );
    let place =
        |wanted: fn(&Body) -> bool| events.iter().position(|event| wanted(&event.body)).unwrap();
    let told = place(|body| matches!(body, Body::ItemCompleted(_)));
    assert!(told < place(|body| matches!(body, Body::TurnStarted(_))));
    match &events[0].body {
        Body::ItemStarted(item) => {
            let value = serde_json::to_value(item).unwrap();
            assert_eq!(
                value["content"],
                json!({"type": "prompt", "text": "hello", "delivery": "queue",
                    "state": "queued", "by": "anna", "attachments":
                    [{"name": "cat.png", "media_type": "image/png", "bytes": 7}]})
            );
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_prompt_taken_back_is_cancelled_and_its_id_is_used_up() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    stage.session.send("one").await.unwrap();
    let (one, _) = stage.engine.prompt().await;
    let two = Message::new("two")
        .id(Uuid::new_v4())
        .delivery(Delivery::Queue);
    let id = stage.session.post(two.clone()).await.unwrap();
    assert_eq!(stage.session.cancel(&id).await.unwrap(), Cancelled::Yes);
    let again = stage.session.post(two).await;
    assert!(
        matches!(again, Err(Error::MessageCancelled(_))),
        "{again:?}"
    );
    stage.engine.init("s").await;
    stage.engine.result("1", &[&one]).await;
    let events = stage.rest().await;
    nothing_stays_open(&events);
    assert_eq!(
        states(&events, id.as_str()),
        [PromptState::Queued, PromptState::Cancelled]
    );
}

#[tokio::test]
async fn a_prompt_the_engine_gives_back_is_cancelled_after_it_was_sent() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    stage.session.send("one").await.unwrap();
    let (one, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    let aside = stage.session.steer("aside").await.unwrap();
    stage.engine.prompt().await;
    let session = stage.session.clone();
    let (cancelled, ()) = tokio::join!(session.cancel(&aside), async {
        let asked = stage.engine.request("cancel_async_message").await;
        assert_eq!(asked["request"]["message_uuid"], aside.as_str());
        let id = asked["request_id"].clone();
        stage.engine.done(&id, &json!({"cancelled": true})).await;
        let lifecycle = json!({"type": "command_lifecycle", "command_uuid": aside.as_str(),
            "state": "cancelled", "session_id": "s"});
        stage.engine.say(&lifecycle).await;
    });
    assert_eq!(cancelled.unwrap(), Cancelled::Yes);
    stage.engine.result("1", &[&one]).await;
    let events = stage.rest().await;
    nothing_stays_open(&events);
    assert_eq!(
        states(&events, aside.as_str()),
        [
            PromptState::Queued,
            PromptState::Sent,
            PromptState::Cancelled
        ]
    );
    let steered = events.iter().any(|event| match &event.body {
        Body::ItemStarted(item) => matches!(&item.content,
            ItemContent::Prompt(prompt) if prompt.delivery == Delivery::Steer),
        _ => false,
    });
    assert!(steered);
}

#[tokio::test]
async fn what_was_never_sent_is_cancelled_before_the_end() {
    // Closed, while one is answered and two wait.
    let mut stage = Stage::new(|spec| spec).await;
    for text in ["one", "two", "three"] {
        stage.session.send(text).await.unwrap();
    }
    stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage.session.close().await;
    let events = stage.rest().await;
    nothing_stays_open(&events);
    let cancelled = |state: &PromptState| *state == PromptState::Cancelled;
    let all = prompts(&events);
    let count = all.iter().filter(|(_, state, _)| cancelled(state)).count();
    assert_eq!(count, 2, "{all:?}");

    // A limit.
    let mut limits = Limits::default();
    limits.total_tokens = Some(20);
    let mut stage = Stage::new(|spec| spec.limits(limits)).await;
    for text in ["one", "two"] {
        stage.session.send(text).await.unwrap();
    }
    let (one, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage.engine.result("1", &[&one]).await;
    let events = stage.rest().await;
    nothing_stays_open(&events);
    assert_eq!(class(&completed(&events)), "limit:total_tokens");
    let all = prompts(&events);
    assert_eq!(all.last().unwrap().1, PromptState::Cancelled, "{all:?}");

    // An engine that never starts.
    let (_folder, locks) = locks();
    let (transport, end) = falconer::channel();
    let spec = SessionSpec::new(locks).through(transport);
    let (session, mut stream) = Session::start(spec).await.unwrap();
    session.send("hello").await.unwrap();
    drop(Scripted::new(end));
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    nothing_stays_open(&events);
    assert_eq!(class(&completed(&events)), "engine_not_started");
    assert!(matches!(session.send("late").await, Err(Error::Over)));
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_is_tried_again_keeps_its_id_outside() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    let id = stage.session.send("hello").await.unwrap();
    let (first, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage.engine.overloaded(&[&first]).await;
    let (second, _) = stage.engine.prompt().await;
    let init = json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": "s",
        "user_message_uuids": [second]});
    stage.engine.say(&init).await;
    stage.engine.result("at last", &[&second]).await;
    let events = stage.rest().await;
    assert_eq!(
        states(&events, id.as_str()),
        [PromptState::Queued, PromptState::Sent]
    );
    let named: Vec<&String> = events
        .iter()
        .flat_map(|event| match &event.body {
            Body::TurnStarted(turn) => turn.prompts.iter(),
            Body::TurnCompleted(turn) => turn.prompts.iter(),
            _ => [].iter(),
        })
        .collect();
    assert_eq!(named.len(), 3);
    assert!(named.iter().all(|name| *name == id.as_str()), "{named:?}");
}

#[tokio::test]
async fn deltas_take_no_number() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    stage.session.send("hello").await.unwrap();
    let (uuid, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    let stream = |event: serde_json::Value| json!({"type": "stream_event", "session_id": "s", "api_message_id": "m1", "event": event});
    let block = json!({"type": "text", "text": ""});
    let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
    stage.engine.say(&stream(start)).await;
    for text in ["hällo ", "wörld"] {
        let delta = json!({"type": "text_delta", "text": text});
        let delta = json!({"type": "content_block_delta", "index": 0, "delta": delta});
        stage.engine.say(&stream(delta)).await;
    }
    stage.engine.text("m1", "hällo wörld").await;
    stage.engine.result("hällo wörld", &[&uuid]).await;
    let events = stage.rest().await;
    let mut last = 0;
    let mut deltas = Vec::new();
    for event in &events {
        match &event.body {
            Body::ItemDelta { offset, text, .. } => {
                assert_eq!(event.seq, last);
                deltas.push((*offset, text.as_str()));
            }
            _ => {
                last += 1;
                assert_eq!(event.seq, last);
            }
        }
    }
    assert_eq!(deltas, [(0, "hällo "), (6, "wörld")]);
}

#[tokio::test]
async fn tasks_are_stopped_and_the_engine_says_what_it_has() {
    let (_folder, locks) = locks();
    let (transport, end) = falconer::channel();
    let mut engine = Scripted::new(end);
    let options = falconer::Options::new().close_grace(Duration::from_millis(200));
    let spec = SessionSpec::new(locks).options(options).through(transport);
    let (session, _events) = Session::start(spec).await.unwrap();
    // Asked before the engine is there: it waits.
    let asking = tokio::spawn({
        let session = session.clone();
        async move { session.info().await }
    });
    let request = engine.request("initialize").await;
    let hello = json!({"commands": [{"name": "compact", "description": "Shorten",
        "argumentHint": "[what]"}], "models": [{"value": "opus", "displayName": "Opus",
        "description": "the large one"}, {"value": "bare"}], "claude_code_version": "2.1.325"});
    engine.done(&request["request_id"], &hello).await;
    let info = asking.await.unwrap().unwrap();
    let command = |command: &CommandInfo| {
        let CommandInfo {
            name,
            description,
            argument_hint,
            ..
        } = command.clone();
        (name, description, argument_hint)
    };
    assert_eq!(
        info.commands.iter().map(command).collect::<Vec<_>>(),
        [("compact".into(), "Shorten".into(), "[what]".into())]
    );
    let model = |model: &ModelInfo| (model.id.clone(), model.name.clone());
    assert_eq!(
        info.models.iter().map(model).collect::<Vec<_>>(),
        [
            ("opus".into(), "Opus".into()),
            ("bare".into(), "bare".into())
        ]
    );
    let (stopped, ()) = tokio::join!(session.stop_task("b1"), async {
        let asked = engine.request("stop_task").await;
        assert_eq!(asked["request"]["task_id"], "b1");
        engine.done(&asked["request_id"], &json!({})).await;
    });
    stopped.unwrap();
    session.close().await;
}
