//! Starting, sending, queueing, locking, ending.

use falconer::channel;
use falconer_event::{Body, Outcome, Source};
use falconer_session::{Cancelled, Error, LockError, Resume, RunFailure, Session, SessionSpec};
use serde_json::json;

use crate::scripted::{Scripted, Stage, class, completed, locks};

#[tokio::test]
async fn a_run_starts_once_ends_once_and_has_no_gaps() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    stage.session.send("hello").await.unwrap();
    let (uuid, text) = stage.engine.prompt().await;
    assert_eq!(text, "hello");
    stage.engine.init("s").await;
    stage.engine.text("m1", "hi").await;
    stage.engine.result("hi", &[&uuid]).await;
    let events = stage.rest().await;
    let end = completed(&events);
    assert_eq!((end.outcome, end.text.as_str()), (Outcome::Ok, "hi"));
    assert_eq!(end.native_session.as_deref(), Some("s"));
    let started = events
        .iter()
        .filter(|event| matches!(event.body, Body::RunStarted(_)));
    assert_eq!(started.count(), 1);
    // Only what the user said comes before.
    let before = events
        .iter()
        .take_while(|event| !matches!(event.body, Body::RunStarted(_)));
    assert!(before.into_iter().all(|event| event.source == Source::User));
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    stage.session.ended().await;
    drop(stage.locks.try_lock("s").unwrap());
}

#[tokio::test]
async fn a_new_session_is_locked_before_it_is_announced() {
    let mut stage = Stage::new(|spec| spec).await;
    stage.session.send("hello").await.unwrap();
    stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage
        .event(|event| matches!(event.body, Body::RunStarted(_)).then_some(()))
        .await;
    assert!(matches!(
        stage.locks.try_lock("s"),
        Err(LockError::Held { .. })
    ));
    stage.session.close().await;
    drop(stage.locks.try_lock("s").unwrap());
    assert_eq!(stage.completed().await.outcome, Outcome::Cancelled);
}

#[tokio::test]
async fn a_session_in_use_is_not_announced_a_second_time() {
    let mut stage = Stage::new(|spec| spec).await;
    let other = stage.locks.try_lock("s").unwrap();
    stage.session.send("hello").await.unwrap();
    stage.engine.prompt().await;
    stage.engine.init("s").await;
    let events = stage.rest().await;
    assert_eq!(class(&completed(&events)), RunFailure::SessionBusy.class());
    assert!(
        events
            .iter()
            .all(|event| !matches!(event.body, Body::RunStarted(_)))
    );
    drop(other);
    drop(stage.locks.try_lock("s").unwrap());
}

#[tokio::test]
async fn resuming_a_session_in_use_starts_nothing() {
    let (_folder, locks) = locks();
    let _held = locks.try_lock("s").unwrap();
    let (transport, mut engine) = channel();
    let spec = SessionSpec::new(locks)
        .through(transport)
        .resume(Resume::session("s"));
    let started = Session::start(spec).await;
    assert!(matches!(started, Err(Error::Lock(LockError::Held { .. }))));
    assert_eq!(engine.recv().await, None);
}

#[tokio::test]
async fn another_session_than_the_one_asked_for_is_an_error_unless_it_is_a_fork() {
    for (resume, other_is_fine) in [
        (Resume::session("s"), false),
        (Resume::session("s").fork(), true),
    ] {
        let mut stage = Stage::new(|spec| spec.resume(resume).until_idle()).await;
        stage.session.send("hello").await.unwrap();
        let (uuid, _) = stage.engine.prompt().await;
        stage.engine.init("other").await;
        stage.engine.result("hi", &[&uuid]).await;
        let events = stage.rest().await;
        let end = completed(&events);
        let started = events
            .iter()
            .any(|event| matches!(event.body, Body::RunStarted(_)));
        assert_eq!(started, other_is_fine);
        if other_is_fine {
            assert_eq!(end.outcome, Outcome::Ok);
        } else {
            assert_eq!(class(&end), RunFailure::SessionMismatch.class());
        }
        for session in ["s", "other"] {
            drop(stage.locks.try_lock(session).unwrap());
        }
    }
}

#[tokio::test]
async fn a_vanished_conversation_has_a_class_of_its_own() {
    let mut stage = Stage::new(|spec| spec.resume(Resume::session("gone"))).await;
    stage.session.send("hello").await.unwrap();
    stage.engine.prompt().await;
    stage
        .engine
        .say(
            &json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
            "session_id": "new", "errors": ["No conversation found with session ID: gone"]}),
        )
        .await;
    drop(stage.engine);
    let mut events = Vec::new();
    while let Some(event) = stage.events.next().await {
        events.push(event);
    }
    let end = completed(&events);
    assert_eq!(class(&end), RunFailure::SessionNotFound.class());
    assert_eq!(
        RunFailure::of(end.failure.as_ref().unwrap()),
        Some(RunFailure::SessionNotFound)
    );
}

#[tokio::test]
async fn an_engine_that_ends_too_early_ends_the_run() {
    let mut stage = Stage::new(|spec| spec).await;
    stage.session.send("hello").await.unwrap();
    stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage
        .engine
        .call("t1", "Bash", &json!({"command": "sleep 9"}))
        .await;
    stage
        .event(|event| {
            let is_call = event.source == Source::Agent;
            (is_call && matches!(event.body, Body::ItemStarted(_))).then_some(())
        })
        .await;
    let Stage {
        engine,
        mut events,
        session,
        locks,
        _folder,
    } = stage;
    drop(engine);
    let mut rest = Vec::new();
    while let Some(event) = events.next().await {
        rest.push(event);
    }
    assert_eq!(class(&completed(&rest)), RunFailure::EngineEnded.class());
    assert!(
        rest.iter()
            .any(|event| matches!(event.body, Body::ItemCompleted(_)))
    );
    assert!(matches!(session.send("more").await, Err(Error::Over)));
    drop(locks.try_lock("s").unwrap());
}

#[tokio::test]
async fn queued_messages_run_in_order_and_can_be_taken_back() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    let session = stage.session.clone();
    session.send("one").await.unwrap();
    let two = session.send("two").await.unwrap();
    session.send("three").await.unwrap();
    let (one, text) = stage.engine.prompt().await;
    assert_eq!(text, "one");
    assert_eq!(session.cancel(&two).await.unwrap(), Cancelled::Yes);
    session.steer("aside").await.unwrap();
    let (aside, text) = stage.engine.prompt().await;
    assert_eq!(text, "aside");
    stage.engine.init("s").await;
    stage.engine.result("1", &[&one, &aside]).await;
    let (three, text) = stage.engine.prompt().await;
    assert_eq!(text, "three");
    assert_eq!(session.cancel(&two).await.unwrap(), Cancelled::TooLate);
    stage.engine.init("s").await;
    stage.engine.result("3", &[&three]).await;
    assert_eq!(stage.completed().await.text, "3");
}

#[tokio::test]
async fn a_queue_that_is_full_says_so() {
    let mut stage = Stage::new(|spec| spec.queue(2)).await;
    stage.session.send("one").await.unwrap();
    stage.engine.prompt().await;
    stage.session.send("two").await.unwrap();
    stage.session.send("three").await.unwrap();
    assert!(matches!(
        stage.session.send("four").await,
        Err(Error::QueueFull(2))
    ));
    stage.session.close().await;
}

#[tokio::test]
async fn a_slow_reader_loses_nothing_and_holds_up_nobody() {
    let mut stage = Stage::new(|spec| spec.backlog(4).until_idle()).await;
    stage.session.send("hello").await.unwrap();
    let (uuid, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    for number in 0..2000 {
        stage
            .engine
            .text(&format!("m{number}"), &format!("text {number}"))
            .await;
    }
    // Nothing was read so far, and the engine is served all the same.
    stage
        .engine
        .ask("r1", "Bash", &json!({"command": "ls"}))
        .await;
    stage.engine.result("done", &[&uuid]).await;
    let asked = stage.event(|event| match &event.body {
        Body::PermissionRequested(asked) => Some((**asked).clone()),
        _ => None,
    });
    let asked = asked.await;
    let allow = falconer_session::Answer::allow(&asked.id, &asked.digest, "me");
    stage.session.answer(allow).await.unwrap();
    let events = stage.rest().await;
    let last = &events[events.len() - 1];
    assert!(matches!(last.body, Body::RunCompleted(_)));
    assert!(last.seq > 2000, "{}", last.seq);
}

#[tokio::test]
async fn a_run_nobody_cares_about_ends() {
    let stage = Stage::new(|spec| spec).await;
    stage.session.send("hello").await.unwrap();
    let Stage {
        session,
        events,
        mut engine,
        locks,
        _folder,
    } = stage;
    engine.prompt().await;
    engine.init("s").await;
    drop((session, events));
    while engine.hear().await.is_some() {}
    let lock = locks.lock("s", crate::scripted::LIMIT).await;
    drop(lock.unwrap());
}

#[tokio::test]
async fn an_engine_that_does_not_start_is_told_by_the_last_event() {
    let (_folder, locks) = locks();
    let (transport, end) = channel();
    drop(Scripted::new(end));
    let spec = SessionSpec::new(locks).through(transport);
    let (session, mut events) = Session::start(spec).await.unwrap();
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(event);
    }
    assert_eq!(all.len(), 1);
    assert_eq!(
        class(&completed(&all)),
        RunFailure::EngineNotStarted.class()
    );
    session.ended().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_sessions_stream_without_loss() {
    let runs: Vec<_> = (0..1000)
        .map(|number| tokio::spawn(one_of_many(number)))
        .collect();
    for run in runs {
        run.await.unwrap();
    }
}

async fn one_of_many(number: u32) {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    stage.session.send("go").await.unwrap();
    let (uuid, _) = stage.engine.prompt().await;
    let name = format!("session-{number}");
    stage.engine.init(&name).await;
    for text in 0..20 {
        stage.engine.text(&format!("m{text}"), "text").await;
    }
    stage.engine.result("done", &[&uuid]).await;
    let events = stage.rest().await;
    // The prompt and its sending, one started, one turn with its end, twenty messages, one
    // completed.
    assert_eq!(events.len(), 26, "{events:#?}");
    assert_eq!(completed(&events).native_session, Some(name));
}
