//! The copy of a session in a store, and the way back from there.

use std::path::Path;
use std::sync::Arc;

use falconer::mirror::{
    FlushMode, InMemorySessionStore, SessionKey, SessionStore, SessionStoreEntry,
    SessionStoreError, SessionStoreFuture, StoredSessions,
};
use falconer::sessions::{ListOptions, SessionId, SystemMessages, new_session_id};
use falconer::{Message, query};
use falconer_testkit::scenario::{Scenario, any, text};
use tempfile::TempDir;

use super::evidence::conversation;
use super::{Stage, next_result};
use crate::scripted::LIMIT;

fn agreeable() -> Stage {
    Stage::new(Scenario::new().on(any()).always().reply(text("I see")))
}

/// The messages of a stored session as text.
async fn stored(store: &Arc<InMemorySessionStore>, project: &Path, id: &SessionId) -> Vec<String> {
    let sessions = StoredSessions::of_directory(store.clone(), project);
    let messages = sessions
        .messages(id, SystemMessages::default())
        .await
        .unwrap();
    messages
        .map(|message| message.unwrap().message.unwrap().get().to_owned())
        .collect()
}

#[tokio::test]
async fn the_store_has_a_turn_before_its_result_is_handed_out() {
    let stage = agreeable();
    let store = Arc::new(InMemorySessionStore::new());
    let options = stage
        .options()
        .shared_session_store(store.clone(), FlushMode::Batched);
    let (client, mut messages) = stage.connect(options).await;
    for (round, prompt) in ["I like falcons", "and owls"].into_iter().enumerate() {
        client.send(prompt).await.unwrap();
        next_result(&mut messages).await;
        let id = SessionId::new(client.session_id().unwrap());
        let stored = stored(&store, stage.project(), &id).await;
        assert_eq!(stored.len(), 2 * (round + 1), "{stored:?}");
        assert!(stored[2 * round].contains(prompt) && stored[2 * round + 1].contains("I see"));
    }
    client.close().await.unwrap();
    let sessions = StoredSessions::of_directory(store, stage.project());
    let listed = sessions.list(&ListOptions::new()).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].first_prompt.as_deref(), Some("I like falcons"));
}

#[tokio::test]
async fn a_session_is_resumed_from_the_store_on_a_machine_that_never_saw_it() {
    let stage = agreeable();
    let store = Arc::new(InMemorySessionStore::new());
    let mirrored = |stage: &Stage| {
        stage
            .options()
            .shared_session_store(store.clone(), FlushMode::Eager)
    };
    let outcome = stage.run("I like falcons", mirrored(&stage)).await;
    let id = outcome.last().unwrap().session_id.clone().unwrap();
    let elsewhere = Stage {
        home: TempDir::new().unwrap(),
        ..stage
    };
    let missing = elsewhere
        .try_run("go", elsewhere.options().resume(id.as_str()))
        .await;
    assert!(missing.is_err(), "it is not on this machine");

    let options = mirrored(&elsewhere).resume(id.as_str());
    let outcome = elsewhere.run("what do I like?", options).await;
    assert_eq!(outcome.last().unwrap().session_id.as_ref(), Some(&id));
    let said = conversation(elsewhere.server.messages().last().unwrap());
    assert!(said.contains("I like falcons"), "{said}");
    let stored = stored(&store, elsewhere.project(), &id).await;
    assert_eq!(
        stored.len(),
        4,
        "the second turn is in the same session of the store"
    );
}

#[tokio::test]
async fn a_session_that_is_not_in_the_store_is_an_error_before_the_start() {
    let stage = agreeable();
    let store = InMemorySessionStore::new();
    let id = new_session_id();
    let options = stage.options().session_store(store).resume(id.as_str());
    let error = stage.try_run("go", options).await.unwrap_err();
    assert!(matches!(error, falconer::Error::Session(_)), "{error:?}");
    assert!(error.to_string().contains(id.as_str()), "{error}");
    assert_eq!(stage.server.requests().len(), 0);
}

/// A store that is out of order.
struct Broken;

impl SessionStore for Broken {
    fn append<'a>(
        &'a self,
        _: &'a SessionKey,
        _: &'a [SessionStoreEntry],
    ) -> SessionStoreFuture<'a, ()> {
        Box::pin(async { Err(SessionStoreError::failed("the cable is cut")) })
    }

    fn load<'a>(
        &'a self,
        _: &'a SessionKey,
    ) -> SessionStoreFuture<'a, Option<Vec<SessionStoreEntry>>> {
        Box::pin(async { Err(SessionStoreError::failed("the cable is cut")) })
    }
}

#[tokio::test]
async fn a_store_that_fails_is_a_warning_and_the_run_goes_on() {
    let stage = agreeable();
    let mut run = query("go", stage.options().session_store(Broken))
        .await
        .unwrap();
    let reading = async {
        let (mut warnings, mut results) = (Vec::new(), Vec::new());
        while let Some(message) = run.next().await {
            match message.unwrap() {
                Message::Warning(warning) => warnings.push(warning),
                Message::Result(result) => results.push(result),
                _ => {}
            }
        }
        (warnings, results)
    };
    let (warnings, results) = tokio::time::timeout(LIMIT * 3, reading).await.unwrap();
    assert_eq!(warnings.first().unwrap().kind, "mirror_error");
    assert!(
        warnings[0].text.contains("the cable is cut"),
        "{:?}",
        warnings[0]
    );
    assert!(results.len() == 1 && results[0].is_success());
}
