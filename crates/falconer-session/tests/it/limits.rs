//! Limits end a run with their own class and keep what was said; passing failures are retried.

use std::time::Duration;

use falconer_event::{Body, Outcome};
use falconer_session::{Limits, Retries, SessionSpec};
use serde_json::json;

use crate::scripted::{Stage, class};

fn limited(set: impl FnOnce(&mut Limits)) -> impl FnOnce(SessionSpec) -> SessionSpec {
    let mut limits = Limits::default();
    set(&mut limits);
    move |spec| spec.limits(limits).until_idle()
}

async fn started(make: impl FnOnce(SessionSpec) -> SessionSpec) -> Stage {
    let mut stage = Stage::new(make).await;
    stage.session.send("hello").await.unwrap();
    stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage
}

#[tokio::test]
async fn tokens_run_out_tools_are_denied_and_the_partial_answer_is_kept() {
    let mut stage = started(limited(|limits| limits.total_tokens = Some(20))).await;
    stage.engine.text("m1", "half an ans").await;
    let interrupt = stage.engine.request("interrupt").await;
    stage
        .engine
        .say(
            &json!({"type": "control_request", "request_id": "h1", "request": {
            "subtype": "hook_callback", "callback_id": "hook_0", "input": {
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Read",
            "tool_input": {"file_path": "/a"}}}}),
        )
        .await;
    let denied = stage.engine.answer_to("h1").await;
    assert_eq!(
        denied["hookSpecificOutput"]["permissionDecision"], "deny",
        "{denied}"
    );
    stage
        .engine
        .ask("r1", "Bash", &json!({"command": "ls"}))
        .await;
    assert_eq!(stage.engine.answer_to("r1").await["behavior"], "deny");
    stage
        .engine
        .done(&interrupt["request_id"], &json!({}))
        .await;
    stage
        .engine
        .say(
            &json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
            "session_id": "s", "terminal_reason": "aborted_streaming"}),
        )
        .await;
    let end = stage.completed().await;
    assert_eq!(
        (class(&end), end.text.as_str()),
        ("limit:total_tokens", "half an ans")
    );
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_ignores_the_interrupt_is_ended_all_the_same() {
    let mut stage = started(limited(|limits| {
        limits.deadline = Some(Duration::from_secs(5));
    }))
    .await;
    stage.engine.text("m1", "half").await;
    let mut last = None;
    while let Some(event) = stage.events.next().await {
        last = Some(event);
    }
    let Some(Body::RunCompleted(end)) = last.map(|event| event.body) else {
        panic!("no end");
    };
    assert_eq!((class(&end), end.text.as_str()), ("limit:deadline", "half"));
}

/// An interrupt can come before the turn has begun; then the engine gives the prompt back, is
/// idle, and says nothing more.
#[tokio::test(start_paused = true)]
async fn a_limit_reached_before_the_turn_began_is_why_the_run_ended() {
    let mut stage = Stage::new(limited(|limits| {
        limits.deadline = Some(Duration::from_secs(5));
    }))
    .await;
    stage.session.send("hello").await.unwrap();
    let (uuid, _) = stage.engine.prompt().await;
    let interrupt = stage.engine.request("interrupt").await;
    let lines = [
        json!({"type": "command_lifecycle", "command_uuid": uuid, "state": "cancelled",
            "session_id": "s"}),
        json!({"type": "system", "subtype": "session_state_changed", "state": "idle",
            "session_id": "s"}),
    ];
    for line in &lines {
        stage.engine.say(line).await;
    }
    stage
        .engine
        .done(&interrupt["request_id"], &json!({}))
        .await;
    assert_eq!(class(&stage.completed().await), "limit:deadline");
}

#[tokio::test(start_paused = true)]
async fn silence_ends_a_run_but_not_while_a_tool_has_time() {
    let begun = tokio::time::Instant::now();
    let mut stage = started(limited(|limits| {
        limits.silence = Some(Duration::from_secs(5));
    }))
    .await;
    stage
        .engine
        .call("t1", "Bash", &json!({"command": "make", "timeout": 60_000}))
        .await;
    let mut last = None;
    while let Some(event) = stage.events.next().await {
        last = Some(event);
    }
    let Some(Body::RunCompleted(end)) = last.map(|event| event.body) else {
        panic!("no end");
    };
    assert_eq!(class(&end), "limit:silence");
    assert!(
        begun.elapsed() >= Duration::from_secs(65),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_engine_never_becomes_idle_ends_after_the_grace() {
    let mut stage = Stage::new(limited(|limits| {
        limits.grace = Some(Duration::from_secs(5));
    }))
    .await;
    stage.session.send("hello").await.unwrap();
    let (uuid, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage
        .engine
        .say(
            &json!({"type": "system", "subtype": "session_state_changed", "state": "running",
            "session_id": "s"}),
        )
        .await;
    stage.engine.result("done", &[&uuid]).await;
    let mut last = None;
    while let Some(event) = stage.events.next().await {
        last = Some(event);
    }
    let Some(Body::RunCompleted(end)) = last.map(|event| event.body) else {
        panic!("no end");
    };
    assert_eq!((class(&end), end.text.as_str()), ("limit:grace", "done"));
}

#[tokio::test(start_paused = true)]
async fn a_passing_failure_is_tried_again_under_another_name() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    stage.session.send("hello").await.unwrap();
    let (first, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage.engine.overloaded(&[&first]).await;
    let (second, text) = stage.engine.prompt().await;
    assert_eq!(text, "hello");
    assert_ne!(first, second);
    stage.engine.init("s").await;
    stage.engine.result("at last", &[&second]).await;
    let events = stage.rest().await;
    assert!(
        events
            .iter()
            .any(|event| matches!(event.body, Body::Retry(_)))
    );
    let end = crate::scripted::completed(&events);
    assert_eq!((end.outcome, end.text.as_str()), (Outcome::Ok, "at last"));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_tried_again_after_a_side_effect_or_too_often() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    stage.session.send("hello").await.unwrap();
    let (first, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage
        .engine
        .call("t1", "Bash", &json!({"command": "touch x"}))
        .await;
    stage.engine.overloaded(&[&first]).await;
    assert_eq!(stage.completed().await.outcome, Outcome::Failed);

    let mut stage = Stage::new(|spec| spec.until_idle().retries(Retries::never())).await;
    stage.session.send("hello").await.unwrap();
    let (first, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage.engine.overloaded(&[&first]).await;
    assert_eq!(stage.completed().await.outcome, Outcome::Failed);
}

/// A wall clock that cannot be relied on.
struct Jumping(std::sync::atomic::AtomicU64);

impl falconer_session::Clock for Jumping {
    fn now(&self) -> String {
        let times = [
            "1971-01-01T00:00:00.000Z",
            "2400-01-01T00:00:00.000Z",
            "2026-01-01T00:00:00.000Z",
            "nonsense",
        ];
        let turn = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        times[turn as usize % times.len()].to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_ends_nothing_and_saves_nothing() {
    let set = limited(|limits| {
        limits.deadline = Some(Duration::from_secs(1000));
        limits.silence = Some(Duration::from_secs(60));
    });
    let begun = tokio::time::Instant::now();
    let mut stage = started(|spec| set(spec).clock(Jumping(0.into()))).await;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_secs(50)).await;
        stage.engine.text("m1", "still here").await;
    }
    let ending = async {
        let mut last = None;
        while let Some(event) = stage.events.next().await {
            last = Some(event);
        }
        last
    };
    let Some(Body::RunCompleted(end)) = ending.await.map(|event| event.body) else {
        panic!("no end");
    };
    assert_eq!(class(&end), "limit:silence");
    let took = begun.elapsed();
    assert!(
        took >= Duration::from_secs(560) && took < Duration::from_secs(600),
        "{took:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_service_is_not_asked_sooner_than_it_wants() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    stage.session.send("hello").await.unwrap();
    let (first, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    // As the official CLI announces it.
    let retry = json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 1,
        "retry_delay_ms": 21_000, "error_status": 429, "error": "rate_limit", "session_id": "s"});
    stage.engine.say(&retry).await;
    let failed = tokio::time::Instant::now();
    stage.engine.overloaded(&[&first]).await;
    let (second, _) = stage.engine.prompt().await;
    assert!(
        failed.elapsed() >= Duration::from_secs(21),
        "{:?}",
        failed.elapsed()
    );
    stage.engine.init("s").await;
    // A limit that is lifted in a year is not waited for.
    let resets = jiff::Timestamp::now().as_second() + 365 * 86_400;
    let limit = json!({"type": "rate_limit_event", "session_id": "s", "rate_limit_info":
        {"status": "rejected", "resetsAt": resets, "rateLimitType": "five_hour"}});
    stage.engine.say(&limit).await;
    stage.engine.overloaded(&[&second]).await;
    let events = stage.rest().await;
    assert_eq!(crate::scripted::completed(&events).outcome, Outcome::Failed);
    let told = events.iter().find_map(|event| match &event.body {
        Body::Limit(limit) => Some(limit.clone()),
        _ => None,
    });
    let told = told.unwrap();
    assert!(told.reached);
    assert_eq!(told.class, Some(falconer_event::LimitClass::Quota));
    assert_eq!(told.resets_at, Some(resets as f64));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_the_engine_has_retried_is_not_retried_as_often_again() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    stage.session.send("hello").await.unwrap();
    let (first, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    for attempt in 1..=2 {
        let retry = json!({"type": "system", "subtype": "api_retry", "attempt": attempt,
            "max_retries": 2, "retry_delay_ms": 10, "error_status": 529, "error": "overloaded",
            "session_id": "s"});
        stage.engine.say(&retry).await;
    }
    stage.engine.overloaded(&[&first]).await;
    let events = stage.rest().await;
    let end = crate::scripted::completed(&events);
    assert_eq!(end.outcome, Outcome::Failed);
    let hint = end.failure.unwrap().hint.unwrap();
    assert!(hint.contains("try again in a moment"), "{hint}");
    let ours = events.iter().filter(|event| {
        event.source == falconer_event::Source::Falconer && matches!(event.body, Body::Retry(_))
    });
    assert_eq!(ours.count(), 0, "three attempts were made already");
}

#[tokio::test(start_paused = true)]
async fn a_limit_without_a_window_is_a_short_one() {
    let mut stage = Stage::new(SessionSpec::until_idle).await;
    stage.session.send("hello").await.unwrap();
    let (first, _) = stage.engine.prompt().await;
    stage.engine.init("s").await;
    let limit = json!({"type": "rate_limit_event", "session_id": "s", "rate_limit_info":
        {"status": "rejected", "resetsAt": 100}});
    stage.engine.say(&limit).await;
    stage.engine.result("done", &[&first]).await;
    let events = stage.rest().await;
    let classes: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Limit(limit) => Some(limit.class),
            _ => None,
        })
        .collect();
    assert_eq!(classes, [Some(falconer_event::LimitClass::Short)]);
}
