//! Two processes with the same file.

use std::path::Path;
use std::time::Duration;

use falconer_store::{Change, NewSession, SessionQuery, SqliteStore, Store, Watcher};
use tokio::time::timeout;

use crate::child::{self, Played, say};
use crate::scene::{LONG, Scene, checked_events, claimed, events};

async fn until_titled(store: &dyn Store, watcher: &mut Watcher, title: &str) {
    let seen = timeout(LONG, async {
        loop {
            let page = store.sessions(SessionQuery::default()).await.unwrap();
            if page
                .sessions
                .iter()
                .any(|s| s.title.as_deref() == Some(title))
            {
                return;
            }
            let change = watcher.changed().await;
            assert!(matches!(
                change,
                Some(Change::Session(_) | Change::Everything)
            ));
        }
    });
    seen.await.expect("a hint");
}

async fn make_titled(store: &dyn Store, title: &str) {
    let mut new = NewSession::new("auto", "/p");
    new.title = Some(title.to_owned());
    store.create_session(new).await.unwrap();
}

/// The role of a process that waits for a session and answers with another.
pub(crate) async fn answer(database: &Path) {
    let store = SqliteStore::open(database).await.unwrap();
    let mut watcher = store.watch();
    say("ready");
    until_titled(&store, &mut watcher, "ping").await;
    make_titled(&store, "pong").await;
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hints_cross_processes_both_ways() {
    let scene = Scene::new();
    let store = scene.open().await;
    let mut other = Played::start(child::command("answer", &scene.database()));
    assert_eq!(other.says().as_deref(), Some("ready"));
    let mut watcher = store.watch();
    make_titled(&store, "ping").await;
    until_titled(&store, &mut watcher, "pong").await;
    other.finish();
}

/// The role of a process that writes while another does.
pub(crate) async fn write(database: &Path) {
    let store = SqliteStore::open(database).await.unwrap();
    let (id, fence) = claimed(&store, "child").await;
    say(&id);
    for round in 0..100 {
        store
            .append(events(&id, fence, 1 + round * 2, 2))
            .await
            .unwrap();
    }
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_write_and_neither_fails() {
    let scene = Scene::new();
    let store = scene.open().await;
    let (mine, fence) = claimed(&store, "parent").await;
    let mut other = Played::start(child::command("write", &scene.database()));
    let theirs = other.says().unwrap().into();
    for round in 0..100 {
        store
            .append(events(&mine, fence, 1 + round * 2, 2))
            .await
            .unwrap();
    }
    other.finish();
    for session in [&mine, &theirs] {
        assert_eq!(checked_events(&store, session).await.len(), 200);
    }
    let refused = store.append(events(&theirs, fence, 201, 1)).await;
    assert!(
        refused.is_ok(),
        "the fence is that of the session, not of the process: {refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_open_a_new_file_at_the_same_time() {
    let scene = Scene::new();
    let opening: Vec<_> = (0..8)
        .map(|_| tokio::spawn(SqliteStore::open(scene.database())))
        .collect();
    let mut stores = Vec::new();
    for store in opening {
        stores.push(
            timeout(Duration::from_secs(60), store)
                .await
                .unwrap()
                .unwrap()
                .unwrap(),
        );
    }
    let (id, fence) = claimed(&stores[0], "a").await;
    for (store, seq) in stores.iter().zip(1..) {
        store.append(events(&id, fence, seq, 1)).await.unwrap();
    }
    assert_eq!(checked_events(&stores[7], &id).await.len(), 8);
}
