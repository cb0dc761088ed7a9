//! Somebody else keeps the database; one bad change among good ones.

use std::sync::Arc;
use std::time::Duration;

use falconer_store::{Append, Error, NewEvent, SqliteOptions, Store};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Executor as _};

use crate::scene::{Scene, checked_events, claimed, events};

/// Another program at the same file.
async fn stranger(scene: &Scene) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(scene.database());
    options.connect().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_go_on_while_somebody_writes_and_writes_wait_with_a_limit() {
    let scene = Scene::new();
    let options = SqliteOptions::new(scene.database()).busy_timeout(Duration::from_millis(300));
    let store = options.open().await.unwrap();
    let (id, fence) = claimed(&store, "a").await;
    store.append(events(&id, fence, 1, 2)).await.unwrap();

    let mut stranger = stranger(&scene).await;
    stranger.execute("BEGIN IMMEDIATE").await.unwrap();
    stranger
        .execute("UPDATE sessions SET title = 'unfinished'")
        .await
        .unwrap();
    let refused = store.append(events(&id, fence, 3, 1)).await;
    match &refused {
        Err(error @ Error::Busy { .. }) => assert!(error.is_retryable()),
        other => panic!("{other:?}"),
    }
    // Readers see what was there before.
    assert_eq!(checked_events(&store, &id).await.len(), 2);
    assert_eq!(store.session(&id).await.unwrap().title, None);
    stranger.execute("COMMIT").await.unwrap();
    assert_eq!(store.append(events(&id, fence, 3, 1)).await.unwrap(), 3);
    assert_eq!(
        store.session(&id).await.unwrap().title.as_deref(),
        Some("unfinished")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_the_database_refuses_does_not_harm_its_neighbours() {
    let scene = Scene::new();
    let store = Arc::new(scene.open().await);
    let mut stranger = stranger(&scene).await;
    let trigger = "CREATE TRIGGER poison BEFORE INSERT ON events WHEN NEW.kind = 'poison'
                   BEGIN SELECT RAISE(ABORT, 'poison'); END";
    stranger.execute(trigger).await.unwrap();
    let mut sessions = Vec::new();
    for _ in 0..40 {
        sessions.push(claimed(&*store, "a").await);
    }
    let appends = sessions.iter().enumerate().map(|(number, (id, fence))| {
        let mut append = events(id, *fence, 1, 3);
        if number % 10 == 3 {
            append.events[1] = NewEvent::new("poison", "{}");
        }
        store.append(append)
    });
    let outcomes = futures_util::future::join_all(appends).await;
    for (number, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Ok(3) => assert_ne!(number % 10, 3),
            Err(Error::Io { .. }) => assert_eq!(number % 10, 3),
            other => panic!("{number}: {other:?}"),
        }
        let (id, _) = &sessions[number];
        let expected = if number % 10 == 3 { 0 } else { 3 };
        assert_eq!(checked_events(&*store, id).await.len(), expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_who_leaves_does_not_stop_the_others() {
    let scene = Scene::new();
    let store = Arc::new(scene.open().await);
    let (id, fence) = claimed(&*store, "a").await;
    let (other, other_fence) = claimed(&*store, "a").await;
    for round in 0..50 {
        // Asked once, so that it is queued, and then dropped.
        let leaving = store.append(events(&id, fence, 1, 1));
        let _ = futures_util::future::poll_immediate(leaving).await;
        store
            .append(events(&other, other_fence, 1 + round, 1))
            .await
            .unwrap();
    }
    assert_eq!(checked_events(&*store, &other).await.len(), 50);
    assert!(checked_events(&*store, &id).await.len() <= 1);
}

#[tokio::test]
async fn more_than_the_queue_can_hold_is_refused() {
    let store = falconer_store::SqliteStore::in_memory().await.unwrap();
    let (id, fence) = claimed(&store, "a").await;
    let large = || NewEvent::new("x", "x".repeat(4 << 20));
    let append = Append::new(id.clone(), fence, 1, (0..40).map(|_| large()).collect());
    let refused = store.append(append).await;
    assert!(
        matches!(refused, Err(Error::TooLarge { .. })),
        "{refused:?}"
    );
    assert_eq!(store.session(&id).await.unwrap().head, 0);
}
