//! Messages: kept first, given once, in order.

use falconer_event::{Body, ItemContent, Outcome};
use falconer_hub::{Error, LaunchError, NewMessage, TakenBack};
use falconer_store::{InputQuery, InputState, SessionState};

use crate::place::{Place, events, kinds, send, state, until, uuid};

#[tokio::test]
async fn everything_that_happens_is_in_the_store_and_the_session_waits_for_more() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    let mut deltas = hub.deltas(&session);
    let message = send(&hub, &session, "hello there\nand more").await;
    let record = state(&hub, &session, SessionState::Ready).await;
    assert_eq!(record.title.as_deref(), Some("hello there"));
    assert!(record.native_session.is_some());
    assert!(record.tokens.total() > 0);
    let told = events(&hub, &session).await;
    let kinds = kinds(&told);
    for kind in [
        "item.started",
        "run.started",
        "turn.started",
        "turn.completed",
    ] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let turn = told.iter().find_map(|event| match &event.body {
        Body::TurnCompleted(turn) => Some(turn),
        _ => None,
    });
    assert_eq!(turn.unwrap().prompts, [message]);
    let delta = deltas.next().await.unwrap();
    assert!(delta.json.contains("item.delta"), "{}", delta.json);
    assert!(told.iter().all(|event| !event.body.is_ephemeral()));
    let inputs = hub.store().inputs(&session, InputQuery::default()).await;
    assert_eq!(inputs.unwrap()[0].state, InputState::Done);
    hub.shut_down().await;
    let told = events(&hub, &session).await;
    assert!(matches!(&told.last().unwrap().body, Body::RunCompleted(_)));
    let record = hub.store().session(&session).await.unwrap();
    assert_eq!((record.state, record.owner), (SessionState::Idle, None));
}

#[tokio::test]
async fn a_message_is_on_record_as_given_before_the_agent_can_have_it() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    let first = send(&hub, &session, "write one").await;
    let input = hub.store().input(&first.as_str().into()).await.unwrap();
    assert_eq!(input.state, InputState::Sent);
    let second = send(&hub, &session, "hello").await;
    let input = hub.store().input(&second.as_str().into()).await.unwrap();
    assert_eq!(input.state, InputState::Queued, "it waits for its turn");
}

#[tokio::test]
async fn a_message_that_is_sent_twice_counts_once() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    let message = NewMessage::new("mine", "hello", "anna");
    let first = hub.send(&session, message.clone()).await.unwrap();
    let second = hub.send(&session, message).await.unwrap();
    assert!(!first.duplicate && second.duplicate);
    assert_eq!(first.message.id, second.message.id);
    let other = NewMessage::new("mine", "something else", "anna");
    let refused = hub.send(&session, other).await;
    assert!(matches!(
        refused,
        Err(Error::Store(falconer_store::Error::Conflict { .. }))
    ));
    state(&hub, &session, SessionState::Ready).await;
    let told = events(&hub, &session).await;
    let turns = kinds(&told)
        .iter()
        .filter(|it| **it == "turn.completed")
        .count();
    assert_eq!(turns, 1);
}

#[tokio::test]
async fn a_queued_message_can_be_taken_back_and_the_next_one_runs() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    let request = crate::place::open_request(&hub, &session).await;
    let queued = send(&hub, &session, "write two").await;
    let last = send(&hub, &session, "hello").await;
    let taken = hub
        .take_back(&session, &queued.as_str().into())
        .await
        .unwrap();
    assert_eq!(taken, TakenBack::Yes);
    let deny = falconer_hub::Verdict::Deny {
        message: "no".to_owned(),
    };
    let _ = hub
        .answer(&request.id, &request.digest, deny, "anna")
        .await
        .unwrap();
    until(&hub, "the last message is answered", || async {
        let input = hub.store().input(&last.as_str().into()).await.unwrap();
        (input.state == InputState::Done).then_some(())
    })
    .await;
    let input = hub.store().input(&queued.as_str().into()).await.unwrap();
    assert_eq!(input.state, InputState::Cancelled);
    assert_eq!((place.read("one.txt"), place.read("two.txt")), (None, None));
    let again = hub
        .take_back(&session, &last.as_str().into())
        .await
        .unwrap();
    assert_eq!(again, TakenBack::TooLate);
}

#[tokio::test]
async fn a_session_whose_engine_was_parked_goes_on_with_its_own_conversation() {
    let place = Place::new();
    let config = place.config().park_after(Some(std::time::Duration::ZERO));
    let hub = falconer_hub::Hub::open(place.store().await, config)
        .await
        .unwrap();
    let session = place.session(&hub).await;
    send(&hub, &session, "hello").await;
    let first = state(&hub, &session, SessionState::Idle).await;
    let head = first.head;
    send(&hub, &session, "hello again").await;
    let second = until(&hub, "it has run again", || async {
        let record = hub.store().session(&session).await.unwrap();
        (record.head > head && record.state == SessionState::Idle).then_some(record)
    })
    .await;
    assert_eq!(first.native_session, second.native_session);
    let told = events(&hub, &session).await;
    let runs: Vec<Outcome> = told
        .iter()
        .filter_map(|event| match &event.body {
            Body::RunCompleted(run) => Some(run.outcome),
            _ => None,
        })
        .collect();
    assert_eq!(runs.len(), 2, "{runs:?}");
}

#[tokio::test]
async fn an_engine_that_cannot_be_started_is_told_and_the_message_does_not_wait() {
    let place = Place::new();
    let hub = place.hub().await;
    let unknown = falconer_hub::NewSession::new("kettle", place.work());
    let refused = hub.create(unknown).await;
    assert!(matches!(&refused, Err(Error::Launch(error)) if error.code == LaunchError::UNKNOWN));
    let new = falconer_hub::NewSession::new("teapot", place.work());
    let session = hub.create(new).await.unwrap().id;
    let failed = hub
        .send(&session, NewMessage::new(uuid(), "hi", "anna"))
        .await;
    assert!(matches!(&failed, Err(Error::Launch(error)) if error.code == LaunchError::UNKNOWN));
    let inputs = hub.store().inputs(&session, InputQuery::default()).await;
    assert_eq!(inputs.unwrap()[0].state, InputState::Cancelled);
    let record = hub.store().session(&session).await.unwrap();
    assert_eq!((record.state, record.owner), (SessionState::Idle, None));
}

#[tokio::test]
async fn an_attachment_reaches_the_agent_and_the_log_names_it() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    let blob = falconer_store::NewBlob::new("text/plain", b"write one".to_vec()).name("todo.txt");
    let blob = hub.store().put_blob(blob).await.unwrap();
    let mut message = NewMessage::new(uuid(), "do what the file says", "anna");
    message.attachments = vec![blob.id];
    hub.send(&session, message).await.unwrap();
    // The model does what it reads in the file.
    let request = crate::place::open_request(&hub, &session).await;
    assert_eq!(request.input["command"], "truncate -s 1 one.txt");
    let told = events(&hub, &session).await;
    let prompt = told.iter().find_map(|event| match &event.body {
        Body::ItemStarted(item) => match &item.content {
            ItemContent::Prompt(prompt) => Some(prompt),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(prompt.unwrap().attachments[0].name, "todo.txt");
    assert_eq!(prompt.unwrap().by.as_deref(), Some("anna"));
}
