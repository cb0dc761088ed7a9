//! Making, changing, copying, closing and deleting sessions.

use std::sync::Arc;

use falconer::Options;
use falconer_event::{Body, Run};
use falconer_hub::{
    Change, EngineName, Engines, Error, Hub, HubConfig, Launch, LaunchError, NewMessage,
    NewSession, TrustVerdict,
};
use falconer_session::Policy;
use falconer_store::{SessionId, SessionPatch, SessionRecord, SessionState};
use serde_json::json;

use crate::place::{LIMIT, Place, events, kinds, open_request, send, state, until, uuid};

#[tokio::test]
async fn a_session_that_makes_no_sense_is_not_made() {
    let place = Place::new();
    let hub = place.hub().await;
    let refused = |change: fn(&mut NewSession)| {
        let (hub, mut new) = (hub.clone(), NewSession::new("script", place.work()));
        change(&mut new);
        async move { hub.create(new).await.unwrap_err() }
    };
    let error = refused(|new| new.cwd = "relative".into()).await;
    assert!(matches!(error, Error::Directory { .. }), "{error}");
    let error = refused(|new| new.cwd = "/nowhere/at/all".into()).await;
    assert!(matches!(error, Error::Directory { .. }), "{error}");
    let error = refused(|new| new.mode = "yolo".to_owned()).await;
    assert!(matches!(error, Error::Invalid(_)), "{error}");
    let error = refused(|new| new.mode = "bypassPermissions".to_owned()).await;
    assert!(matches!(error, Error::BypassRefused(_)), "{error}");
    let error = refused(|new| new.config = json!({"limits": {"usd": "much"}})).await;
    assert!(matches!(error, Error::Invalid(_)), "{error}");
    let error = refused(|new| new.config = json!({"limits": {"deadline_seconds": -1}})).await;
    assert!(matches!(error, Error::Invalid(_)), "{error}");
    let error = refused(|new| new.config = json!({"isolation": "some"})).await;
    assert!(matches!(error, Error::Invalid(_)), "{error}");
}

#[tokio::test]
async fn a_session_whose_isolation_cannot_be_had_is_neither_made_nor_started() {
    let place = Place::new();
    let hub = place.hub().await;
    for kind in ["home", "sandbox"] {
        let mut new = NewSession::new("script", place.work());
        new.config = json!({"isolation": {"type": kind}});
        match hub.create(new).await.unwrap_err() {
            Error::Launch(error) => {
                assert_eq!(error.code, LaunchError::ISOLATION, "{error}");
                assert!(error.hint.contains("choose another engine"), "{error:?}");
            }
            other => panic!("{other}"),
        }
    }
    // A record that says it all the same: made by another process, or before this one changed.
    let session = place.session(&hub).await;
    let config = json!({"isolation": {"type": "sandbox"}});
    let patch = SessionPatch::default().config(config);
    hub.store().update_session(&session, patch).await.unwrap();
    // The run may be over before the message is taken, or after it.
    let message = NewMessage::new("1", "write one", "anna");
    let _ = hub.send(&session, message).await;
    let record = until(&hub, "the run has failed", || async {
        let record = hub.store().session(&session).await.unwrap();
        (record.state == SessionState::Idle && record.head > 0).then_some(record)
    })
    .await;
    assert_eq!(record.config.get("sandbox"), None);
    let told = events(&hub, &session).await;
    let Some(Body::RunCompleted(end)) = told.last().map(|event| &event.body) else {
        panic!("{told:#?}")
    };
    let failure = end.failure.as_ref().unwrap();
    assert!(failure.text.contains("cannot be isolated"), "{failure:?}");
    let hint = failure.hint.as_deref().unwrap_or_default();
    assert!(hint.contains("use the engine `claude`"), "{failure:?}");
    assert_eq!(place.read("one.txt"), None);
    hub.shut_down().await;
}

/// An engine whose sessions have a policy of their own.
struct Bound;

impl Engines for Bound {
    fn launch(&self, _: &SessionRecord) -> Result<Launch, LaunchError> {
        let policy = Arc::new(Policy::default());
        Ok(Launch::new(Options::new(), Run::default()).policy(policy))
    }

    fn names(&self) -> Vec<EngineName> {
        vec![EngineName::available("script", "it is a test")]
    }
}

#[tokio::test]
async fn every_refusal_says_what_to_do() {
    let place = Place::new();
    let config = HubConfig::new(Bound, place.root().join("locks"));
    let config = config.policy(Arc::new(Policy::default()));
    let hub = Hub::open(place.store().await, config).await.unwrap();
    let session = place.session(&hub).await;
    let Err(Error::Launch(two)) = hub.resume(&session).await else {
        panic!("two policies are one too many");
    };
    let unknown = Bound.knows("teapot").unwrap_err();
    let untrusted = Bound.trust_project(&place.work(), "", TrustVerdict::Grant);
    let refusals = [
        (two, "two_policies", "`run.policy`"),
        (unknown, LaunchError::UNKNOWN, "use one of script"),
        (
            untrusted.unwrap_err(),
            LaunchError::NO_TRUST,
            "`falconer trust`",
        ),
    ];
    for (refusal, code, hint) in refusals {
        assert_eq!(refusal.code, code);
        assert!(refusal.hint.contains(hint), "{refusal:?}");
    }
    hub.shut_down().await;
}

#[tokio::test]
async fn the_models_of_an_engine_are_those_it_named_last() {
    let place = Place::new();
    let hub = place.hub().await;
    assert_eq!(hub.models("script"), [], "nobody has asked it yet");
    let session = place.session(&hub).await;
    send(&hub, &session, "hello").await;
    state(&hub, &session, SessionState::Ready).await;
    let told = hub.info(&session).await.unwrap().models;
    assert!(told.iter().any(|model| model.id == "sonnet"), "{told:?}");
    // It is asked beside the run; whoever asks after it gets the same.
    let known = tokio::time::timeout(LIMIT, async {
        while hub.models("script") != told {
            tokio::task::yield_now().await;
        }
    });
    known.await.expect("the models are known");
    hub.shut_down().await;
}

#[tokio::test]
async fn a_change_of_mode_reaches_the_engine_and_stays() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "hello").await;
    state(&hub, &session, SessionState::Ready).await;
    let mut change = Change::default();
    change.mode = Some("plan".to_owned());
    change.title = Some("a title".to_owned());
    change.pinned = Some(true);
    let record = hub.change(&session, change).await.unwrap();
    assert_eq!((&*record.mode, record.pinned), ("plan", true));
    assert_eq!(record.title.as_deref(), Some("a title"));
    hub.shut_down().await;
    drop(hub);

    let hub = place.hub().await;
    send(&hub, &session, "hello").await;
    state(&hub, &session, SessionState::Ready).await;
    let told = events(&hub, &session).await;
    let modes: Vec<Option<String>> = told
        .iter()
        .filter_map(|event| match &event.body {
            falconer_event::Body::RunStarted(run) => Some(run.permission_mode.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(modes, [Some("default".to_owned()), Some("plan".to_owned())]);
}

#[tokio::test]
async fn a_closed_session_takes_no_messages_until_it_is_resumed() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    assert_eq!(
        hub.close(&session).await.unwrap().state,
        SessionState::Closed
    );
    let refused = hub
        .send(&session, NewMessage::new(uuid(), "hi", "anna"))
        .await;
    assert!(matches!(refused, Err(Error::Closed(_))));
    assert!(matches!(
        hub.interrupt(&session).await,
        Err(Error::NotRunning(_))
    ));
    hub.resume(&session).await.unwrap();
    send(&hub, &session, "hello").await;
    state(&hub, &session, SessionState::Ready).await;
    assert!(!hub.info(&session).await.unwrap().models.is_empty());
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_and_not_the_session() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "wait").await;
    state(&hub, &session, SessionState::Running).await;
    crate::place::until(&hub, "the turn has begun", || async {
        kinds(&events(&hub, &session).await)
            .contains(&"turn.started")
            .then_some(())
    })
    .await;
    hub.interrupt(&session).await.unwrap();
    state(&hub, &session, SessionState::Ready).await;
    send(&hub, &session, "hello").await;
    state(&hub, &session, SessionState::Ready).await;
}

#[tokio::test]
async fn a_fork_has_the_log_so_far_and_goes_its_own_way() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    let early = hub.fork(&session, None).await;
    assert!(
        matches!(early, Err(Error::Invalid(_))),
        "nothing to copy yet"
    );
    send(&hub, &session, "write one").await;
    let request = open_request(&hub, &session).await;
    let fork = hub
        .fork(&session, Some("other way".to_owned()))
        .await
        .unwrap();
    assert_eq!(fork.parent.as_ref(), Some(&session));
    let (theirs, ours) = (events(&hub, &fork.id).await, events(&hub, &session).await);
    assert_eq!(kinds(&theirs)[..ours.len()], kinds(&ours)[..]);
    assert_eq!(kinds(&theirs).last(), Some(&"run.completed"));
    send(&hub, &fork.id, "hello").await;
    let record = state(&hub, &fork.id, SessionState::Ready).await;
    let original = hub.store().session(&session).await.unwrap();
    assert_ne!(record.native_session, original.native_session);
    assert_eq!(
        original.state,
        SessionState::Waiting,
        "the original goes on waiting"
    );
    let deny = falconer_hub::Verdict::Deny {
        message: "enough".to_owned(),
    };
    let _ = hub
        .answer(&request.id, &request.digest, deny, "anna")
        .await
        .unwrap();
    state(&hub, &session, SessionState::Ready).await;
}

#[tokio::test]
async fn a_deleted_session_is_gone_with_its_engine() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "write one").await;
    open_request(&hub, &session).await;
    hub.delete(&session).await.unwrap();
    let gone = hub.store().session(&session).await;
    assert!(matches!(gone, Err(falconer_store::Error::NotFound { .. })));
    assert_eq!(place.read("one.txt"), None);
    let nothing = hub.delete(&SessionId::generate()).await;
    assert!(matches!(
        nothing,
        Err(Error::Store(falconer_store::Error::NotFound { .. }))
    ));
}

#[tokio::test]
async fn a_session_whose_conversation_vanished_goes_on_in_a_new_one() {
    let place = Place::new();
    let hub = place.hub().await;
    let session = place.session(&hub).await;
    send(&hub, &session, "which colour?").await;
    let before = state(&hub, &session, SessionState::Ready).await;
    hub.close(&session).await.unwrap();
    std::fs::remove_dir_all(place.root().join("home/.claude/projects")).unwrap();
    hub.resume(&session).await.unwrap();
    send(&hub, &session, "and now?").await;
    let record = until(&hub, "the new conversation has a name", || async {
        let record = hub.store().session(&session).await.unwrap();
        (record.native_session != before.native_session).then_some(record)
    })
    .await;
    assert_eq!(record.id, session);
    state(&hub, &session, SessionState::Ready).await;
    let told = events(&hub, &session).await;
    let mut warnings = told.iter().filter_map(|event| match &event.body {
        Body::Warning(warning) => Some((warning.kind.as_str(), warning.text.as_str())),
        _ => None,
    });
    let (kind, text) = warnings.next().unwrap();
    assert_eq!(kind, "session_not_found");
    assert!(text.contains("a summary of the last exchange"), "{text}");
    hub.shut_down().await;
}
