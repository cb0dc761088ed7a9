//! SIGKILL in the middle of appending.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use falconer_store::{Death, SessionId, SqliteStore, Store};

use crate::child::{self, Played, say};
use crate::scene::{LONG, Scene, checked_events, claimed, events};

/// Events in each append.
const EACH: u64 = 7;

/// The role of a process that is to be killed: says what was acknowledged, for ever.
pub(crate) async fn append_for_ever(database: &Path) {
    let store = Arc::new(SqliteStore::open(database).await.unwrap());
    let mut writers = Vec::new();
    for _ in 0..4 {
        let (id, fence) = claimed(&*store, "killed").await;
        let store = Arc::clone(&store);
        writers.push(tokio::spawn(async move {
            let mut head = 0;
            loop {
                head = store
                    .append(events(&id, fence, head + 1, EACH))
                    .await
                    .unwrap();
                say(format!("{id} {head}"));
            }
        }));
    }
    for writer in writers {
        let never: Result<(), _> = writer.await;
        never.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_and_nothing_is_half_there() {
    let scene = Scene::new();
    let mut acknowledged: HashMap<SessionId, u64> = HashMap::new();
    for round in 0..6 {
        let mut killed = Played::start(child::command("append", &scene.database()));
        let mut said: Vec<String> = (0..20 + round * 13)
            .map(|_| killed.says().unwrap())
            .collect();
        said.extend(killed.kill());
        for line in said {
            let (id, head) = line.split_once(' ').unwrap();
            acknowledged.insert(id.into(), head.parse().unwrap());
        }
        let store = scene.open().await;
        for (id, acknowledged) in &acknowledged {
            let head = checked_events(&store, id).await.len() as u64;
            assert!(head >= *acknowledged, "{head} of {acknowledged}");
            assert_eq!(head % EACH, 0, "an append is there in part");
        }
        // What the dead one held is taken over, and goes on where it was.
        let taken = store
            .take_over(&"killed".into(), Death::Known, &"heir".into(), LONG)
            .await
            .unwrap();
        assert_eq!(taken.len(), 4);
        for lease in taken {
            let head = store.session(&lease.session).await.unwrap().head;
            let append = events(&lease.session, lease.fence, head + 1, EACH);
            store.append(append).await.unwrap();
            store.release(&lease.session, lease.fence).await.unwrap();
        }
        store.close().await.unwrap();
    }
    assert_eq!(acknowledged.len(), 24);
}
