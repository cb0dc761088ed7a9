//! A hub that is killed, and the one that comes after it; two at the same time.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use falconer_event::{Body, Resolution};
use falconer_hub::{Change, Error, NewMessage, Verdict};
use falconer_store::{
    Append, Claim, Decided, Error as StoreError, InputQuery, InputState, LivePatch, NewEvent,
    RequestState, SessionId, SessionState, Store,
};

use crate::place::{Place, events, kinds, open_request, send, state, until, uuid};

/// Where a child process finds its place.
const ROOT: &str = "FALCONER_HUB_TEST_ROOT";

/// This test, again, as a process that has a session wait for an answer.
fn victim(place: &Place) -> (Child, SessionId, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "death::a_killed_hub_loses_nothing_and_runs_nothing",
            "--nocapture",
        ])
        .env(ROOT, place.root())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.find_map(|line| {
        let line = line.unwrap();
        line.split_once("READY ").map(|(_, rest)| rest.to_owned())
    });
    let ready = ready.expect("the child got where it should be");
    let (session, queued) = ready.split_once(' ').unwrap();
    (child, session.into(), queued.to_owned())
}

/// Has a session wait for an answer, with a message queued behind it, until it is killed.
async fn be_victim(place: Place) {
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    let mut change = Change::default();
    change.mode = Some("acceptEdits".to_owned());
    hub.change(&session, change).await.unwrap();
    send(&hub, &session, "write one").await;
    open_request(&hub, &session).await;
    let queued = send(&hub, &session, "write two").await;
    println!("READY {session} {queued}");
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_killed_hub_loses_nothing_and_runs_nothing() {
    if let Some(root) = std::env::var_os(ROOT) {
        return be_victim(Place::at(root)).await;
    }
    let place = Place::new();
    let (mut child, session, queued) = victim(&place);
    child.kill().unwrap();
    child.wait().unwrap();

    let hub = place.hub().await;
    let record = hub.store().session(&session).await.unwrap();
    assert_eq!(record.state, SessionState::Interrupted);
    assert_eq!((&*record.mode, record.pending), ("acceptEdits", 0));
    let told = events(&hub, &session).await;
    let request = told.iter().find_map(|event| match &event.body {
        Body::PermissionRequested(asked) => Some(asked.id.clone()),
        _ => None,
    });
    let request = hub.store().request(&request.unwrap().into()).await.unwrap();
    assert_eq!(request.state, RequestState::Expired);
    let late = hub
        .answer(&request.id, &request.digest, Verdict::Allow, "anna")
        .await;
    assert!(matches!(late.unwrap(), Decided::Gone(_)));
    let resolved = told.iter().find_map(|event| match &event.body {
        Body::PermissionResolved(resolved) => Some(resolved.resolution),
        _ => None,
    });
    assert_eq!(resolved, Some(Resolution::Expired));
    let Some(Body::RunCompleted(run)) = told.last().map(|event| &event.body) else {
        panic!("the run has no end: {:?}", kinds(&told));
    };
    assert_eq!(run.failure.as_ref().unwrap().class, "server_died");
    assert_eq!((place.read("one.txt"), place.read("two.txt")), (None, None));
    let input = hub.store().input(&queued.as_str().into()).await.unwrap();
    assert_eq!(input.state, InputState::Queued, "it waits and does not run");
    let given = InputQuery::states([InputState::Interrupted]);
    let given = hub.store().inputs(&session, given).await.unwrap();
    assert_eq!(
        given[0].text, "write one",
        "what the agent had is not given again"
    );

    // Somebody says so: then what waited goes on, in its own conversation, in the same mode.
    hub.resume(&session).await.unwrap();
    let request = open_request(&hub, &session).await;
    assert_eq!(request.input["command"], "truncate -s 2 two.txt");
    let resumed = hub.store().session(&session).await.unwrap();
    assert_eq!(resumed.native_session, record.native_session);
    let answer = hub
        .answer(&request.id, &request.digest, Verdict::Allow, "anna")
        .await;
    assert!(matches!(answer.unwrap(), Decided::Won(_)));
    state(&hub, &session, SessionState::Ready).await;
    assert_eq!(place.read("two.txt").as_deref(), Some("\0\0"));
    assert_eq!(
        place.read("one.txt"),
        None,
        "nothing is run again by itself"
    );
    let told = events(&hub, &session).await;
    let modes = told.iter().filter_map(|event| match &event.body {
        Body::RunStarted(run) => run.permission_mode.clone(),
        _ => None,
    });
    assert_eq!(modes.collect::<Vec<_>>(), ["acceptEdits", "acceptEdits"]);
}

#[tokio::test]
async fn another_hub_sees_a_live_session_and_answers_it_but_does_not_run_it() {
    let place = Place::new();
    let (one, two) = (place.hub().await, place.hub().await);
    let session = place.session(&one).await;
    send(&one, &session, "write one").await;
    let request = open_request(&two, &session).await;
    let hello = NewMessage::new(uuid(), "hello", "ben");
    let mut plan = Change::default();
    plan.mode = Some("plan".to_owned());
    let refused = [
        two.send(&session, hello.clone()).await.err(),
        two.interrupt(&session).await.err(),
        two.change(&session, plan).await.err(),
        two.resume(&session).await.err(),
        two.close(&session).await.err(),
        two.delete(&session).await.err(),
        two.stop_task(&session, "task").await.err(),
        two.info(&session).await.err(),
    ];
    for (number, refused) in refused.iter().enumerate() {
        let is_elsewhere = matches!(refused, Some(Error::Elsewhere { at: Some(_), .. }));
        assert!(is_elsewhere, "{number}: {refused:?}");
    }
    assert_eq!(one.store().session(&session).await.unwrap().mode, "default");
    assert!(!one.send(&session, hello).await.unwrap().duplicate);
    let answer = two
        .answer(&request.id, &request.digest, Verdict::Allow, "ben")
        .await;
    assert!(matches!(answer.unwrap(), Decided::Won(_)));
    state(&one, &session, SessionState::Ready).await;
    assert_eq!(place.read("one.txt").as_deref(), Some("\0"));
}

#[tokio::test]
async fn a_hub_that_shuts_down_keeps_what_is_queued() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    open_request(&hub, &session).await;
    let queued = send(&hub, &session, "hello").await;
    hub.shut_down().await;
    let refused = hub
        .send(&session, NewMessage::new(uuid(), "hi", "anna"))
        .await;
    assert!(matches!(refused, Err(Error::ShuttingDown)));
    let input = hub.store().input(&queued.as_str().into()).await.unwrap();
    assert_eq!(input.state, InputState::Queued);
    drop(hub);
    let hub = place.hub().await;
    hub.resume(&session).await.unwrap();
    until(&hub, "what was queued is answered", || async {
        let input = hub.store().input(&queued.as_str().into()).await.unwrap();
        (input.state == InputState::Done).then_some(())
    })
    .await;
    assert_eq!(place.read("one.txt"), None);
}

#[tokio::test]
async fn a_hub_without_its_store_ends_its_engines() {
    let place = Place::new();
    let store = place.store().await;
    // Without its store it cannot let the session go: its lease has to run out.
    let config = place.config().lease(Duration::from_secs(1));
    let hub = falconer_hub::Hub::open(store.clone(), config)
        .await
        .unwrap();
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    open_request(&hub, &session).await;
    store.close().await.unwrap();
    // What happens next cannot be written down.
    let _ = hub.interrupt(&session).await;
    let gone = tokio::time::timeout(crate::place::LIMIT, async {
        // Who runs it is looked for in the store, but only when it does not run here.
        let closed = |error: &Error| matches!(error, Error::Store(StoreError::Closed));
        while !hub
            .interrupt(&session)
            .await
            .is_err_and(|error| closed(&error))
        {
            tokio::task::yield_now().await;
        }
    });
    gone.await.expect("a run nobody can see is ended");
    drop(hub);
    let config = place.config().lease(Duration::from_secs(1));
    let hub = falconer_hub::Hub::open(place.store().await, config).await;
    state(&hub.unwrap(), &session, SessionState::Interrupted).await;
}

/// A session of a dead node, with more events than are read within a lease.
async fn long_log_of(node: &str, store: &Arc<dyn Store>, place: &Place) -> SessionId {
    let new = falconer_store::NewSession::new("script", place.work().display().to_string());
    let session = store.create_session(new).await.unwrap().id;
    let Claim::Claimed(lease) = store.claim(&session, &node.into(), LONG).await.unwrap() else {
        panic!("held");
    };
    let text = "x".repeat(2_000);
    for round in 0..100 {
        let json = |n: u64| {
            format!(
                r#"{{"seq":{n},"time":"t","session":"{session}","run":"r","source":"agent","type":"warning","data":{{"kind":"k","text":"{text}"}}}}"#
            )
        };
        let first = round * 250 + 1;
        let events = (first..first + 250).map(|n| NewEvent::new("warning", json(n)));
        let append = Append::new(session.clone(), lease.fence, first, events.collect());
        store.append(append).await.unwrap();
    }
    let running = LivePatch::default()
        .run(Some("r".into()))
        .state(SessionState::Running);
    store
        .update_live(&session, lease.fence, running)
        .await
        .unwrap();
    session
}

const LONG: Duration = Duration::from_secs(3_600);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renewing_does_not_wait_for_recovery() {
    let place = Place::new();
    let config = || place.config().lease(Duration::from_millis(600));
    let store = place.store().await;
    let hub = falconer_hub::Hub::open(store.clone(), config())
        .await
        .unwrap();
    let live = place.session(&hub).await;
    send(&hub, &live, "write one").await;
    open_request(&hub, &live).await;
    let before = store.session(&live).await.unwrap();
    let mut left = Vec::new();
    for n in 0..4 {
        left.push(long_log_of(&format!("dead{n}"), &store, &place).await);
    }
    // All of them run out now, and one hub inherits them.
    for n in 0..4 {
        let dead = format!("dead{n}").as_str().into();
        store.renew(&dead, Duration::ZERO).await.unwrap();
    }
    let other = falconer_hub::Hub::open(place.store().await, config())
        .await
        .unwrap();
    for session in &left {
        state(&other, session, SessionState::Interrupted).await;
    }
    let after = store.session(&live).await.unwrap();
    assert_eq!((after.owner, after.fence), (before.owner, before.fence));
    assert_eq!(after.state, SessionState::Waiting);
}
