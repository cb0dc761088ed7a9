//! Sessions that a terminal or a program starts itself: others with the same store see them.

use falconer::{Options, PermissionMode};
use falconer_event::{Body, Event};
use falconer_hub::{Adopted, Error, Hub, NewSession, Verdict};
use falconer_session::{Answer, EventStream, Resume, SessionLocks, SessionSpec};
use falconer_store::{Decided, RequestState, RuleScope, SessionState};

use crate::place::{LIMIT, Place, events, kinds, open_request, send, state, until};

pub(crate) fn spec(place: &Place) -> SessionSpec {
    let options = Options::new()
        .cwd(place.work())
        .include_partial_messages()
        .permission_mode(PermissionMode::Default);
    let options = place.scripted(options);
    let mut about = falconer_event::Run::default();
    about.engine = "script".to_owned();
    SessionSpec::new(SessionLocks::new(place.root().join("locks")))
        .options(options)
        .about(about)
        .answer_within(std::time::Duration::MAX)
        .until_idle()
}

pub(crate) async fn adopt(place: &Place, hub: &Hub, spec: SessionSpec) -> Adopted {
    let new = NewSession::new("script", place.work());
    hub.adopt(new, spec).await.unwrap()
}

/// Everything up to and with the first event of this kind.
pub(crate) async fn told(stream: &mut EventStream, kind: &str) -> Vec<Event> {
    let mut told = Vec::new();
    let reading = async {
        while let Some(event) = stream.next().await {
            let is_last = event.body.kind() == kind;
            told.push(event);
            if is_last {
                return;
            }
        }
        panic!("the stream ended before {kind}: {:?}", kinds(&told));
    };
    let read = tokio::time::timeout(LIMIT, reading).await;
    assert!(read.is_ok(), "no {kind} in {LIMIT:?}");
    told
}

#[tokio::test]
async fn a_session_of_a_terminal_is_seen_by_a_server_and_ends_in_the_store() {
    let place = Place::new();
    let (terminal, server) = (place.hub().await, place.hub().await);
    let mut adopted = adopt(&place, &terminal, spec(&place)).await;
    adopted.session.send("\n  hello you\nmore").await.unwrap();
    let told = told(&mut adopted.events, "run.completed").await;
    let id = adopted.record.id.clone();
    let record = state(&server, &id, SessionState::Idle).await;
    assert_eq!(record.title.as_deref(), Some("hello you"));
    assert_eq!(record.engine, "script");
    assert!(record.native_session.is_some());
    // Pieces of text are told and not kept; everything else is both, the same.
    let durable: Vec<_> = told
        .into_iter()
        .filter(|event| !event.body.is_ephemeral())
        .collect();
    assert_eq!(durable, events(&server, &id).await);
    // The server goes on with it.
    terminal.shut_down().await;
    send(&server, &id, "again").await;
    state(&server, &id, SessionState::Ready).await;
    let record = server.store().session(&id).await.unwrap();
    let started: Vec<_> = events(&server, &id)
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            Body::RunStarted(started) => Some(started.native_session),
            _ => None,
        })
        .collect();
    assert_eq!(started.len(), 2);
    assert_eq!(Some(&started[0]), record.native_session.as_ref());
    assert_eq!(started[0], started[1]);
}

#[tokio::test]
async fn what_it_asks_is_answered_by_the_server_and_the_terminal_is_told() {
    let place = Place::new();
    let (terminal, server) = (place.hub().await, place.hub().await);
    let mut adopted = adopt(&place, &terminal, spec(&place)).await;
    adopted.session.send("write one").await.unwrap();
    let asked = open_request(&server, &adopted.record.id).await;
    told(&mut adopted.events, "permission.requested").await;
    let decided = server
        .answer(&asked.id, &asked.digest, Verdict::Allow, "anna")
        .await;
    assert!(matches!(decided, Ok(Decided::Won(_))), "{decided:?}");
    let told = told(&mut adopted.events, "run.completed").await;
    let by = told.iter().find_map(|event| match &event.body {
        Body::PermissionResolved(resolved) => Some(resolved.by.clone()),
        _ => None,
    });
    assert_eq!(by.as_deref(), Some("anna"));
    assert_eq!(place.read("one.txt").as_deref(), Some("\0"));
    // Too late now.
    let late = Answer::deny(asked.id.as_str(), &*asked.digest, "terminal", "no");
    let late = terminal.answer_adopted(late).await.unwrap();
    let Decided::Lost(lost) = late else {
        panic!("{late:?}")
    };
    assert_eq!(lost.decision.unwrap().by, "anna");
}

#[tokio::test]
async fn what_the_terminal_answers_is_on_record_before_a_server_can() {
    let place = Place::new();
    let (terminal, server) = (place.hub().await, place.hub().await);
    let mut adopted = adopt(&place, &terminal, spec(&place)).await;
    adopted.session.send("write one").await.unwrap();
    told(&mut adopted.events, "permission.requested").await;
    let asked = open_request(&terminal, &adopted.record.id).await;
    let no = Answer::deny(asked.id.as_str(), &*asked.digest, "terminal", "not today");
    let decided = terminal.answer_adopted(no).await.unwrap();
    assert!(matches!(decided, Decided::Won(_)), "{decided:?}");
    let decided = server
        .answer(&asked.id, &asked.digest, Verdict::Allow, "anna")
        .await;
    assert!(matches!(decided, Ok(Decided::Lost(_))), "{decided:?}");
    told(&mut adopted.events, "run.completed").await;
    assert_eq!(place.read("one.txt"), None);
    let request = server.store().request(&asked.id).await.unwrap();
    assert_eq!(request.state, RequestState::Delivered);
    let decision = request.decision.unwrap();
    assert_eq!(
        (&*decision.by, decision.message.as_deref()),
        ("terminal", Some("not today"))
    );
}

#[tokio::test]
async fn rules_of_the_store_answer_for_it() {
    let place = Place::new();
    let hub = place.hub().await;
    let rule = falconer_store::NewRule::new(
        "Bash(truncate:*)",
        falconer_store::RuleEffect::Allow,
        RuleScope::User,
        "anna",
    );
    hub.store().add_rule(rule).await.unwrap();
    let mut adopted = adopt(&place, &hub, spec(&place)).await;
    adopted.session.send("write two").await.unwrap();
    let told = told(&mut adopted.events, "run.completed").await;
    assert!(kinds(&told).contains(&"permission.resolved"));
    assert_eq!(place.read("two.txt").as_deref(), Some("\0\0"));
}

#[tokio::test]
async fn a_conversation_goes_on_under_its_record_and_never_twice_at_once() {
    let place = Place::new();
    let (terminal, server) = (place.hub().await, place.hub().await);
    let mut first = adopt(&place, &terminal, spec(&place)).await;
    first.session.send("hello").await.unwrap();
    told(&mut first.events, "run.completed").await;
    let id = first.record.id.clone();
    // The session is let go a moment after its last event.
    let released = until(&terminal, "the session is let go", || async {
        let record = terminal.store().session(&id).await.unwrap();
        record.owner.is_none().then_some(record)
    });
    let native = released.await.native_session.unwrap();
    send(&server, &id, "wait").await;
    state(&server, &id, SessionState::Running).await;
    let resumed = || spec(&place).resume(Resume::session(&native));
    let new = || NewSession::new("script", place.work());
    let refused = terminal.adopt(new(), resumed()).await;
    assert!(
        matches!(refused, Err(Error::Elsewhere { .. })),
        "{refused:?}"
    );
    server.close(&id).await.unwrap();
    let mut again = terminal.adopt(new(), resumed()).await.unwrap();
    assert_eq!(again.record.id, id);
    again.session.send("hello again").await.unwrap();
    let told = told(&mut again.events, "run.completed").await;
    assert_eq!(told[0].seq, again.record.head + 1);
    events(&server, &id).await;
}

#[tokio::test]
async fn a_session_that_another_process_runs_is_waited_for() {
    let place = Place::new();
    let (first, second) = (place.hub().await, place.hub().await);
    let mut held = adopt(&place, &first, spec(&place)).await;
    // It asks, and nobody answers.
    held.session.send("write one").await.unwrap();
    let told = told(&mut held.events, "run.started").await;
    let Some(Body::RunStarted(started)) = told.last().map(|event| &event.body) else {
        panic!("{told:?}");
    };
    let resumed = |wait| {
        let resume = Resume::session(started.native_session.clone());
        spec(&place).resume(resume).wait(wait)
    };
    let new = || NewSession::new("script", place.work());
    let refused = second
        .adopt(new(), resumed(std::time::Duration::ZERO))
        .await;
    assert!(
        matches!(refused, Err(Error::Elsewhere { .. })),
        "{refused:?}"
    );
    let waiting = second.adopt(new(), resumed(LIMIT));
    let (adopted, ()) = tokio::join!(waiting, async {
        held.session.close().await;
        first.shut_down().await;
    });
    assert_eq!(adopted.unwrap().record.id, held.record.id);
    second.shut_down().await;
}
