//! What the tests have in common: a folder, sessions, events.

use std::path::PathBuf;
use std::time::Duration;

use falconer_store::{
    Append, Claim, EventQuery, EventRow, Fence, NewEvent, NewSession, SessionId, SqliteStore, Store,
};

/// Longer than anything takes on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A folder with a database, gone afterwards.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join("store.db")
    }

    pub(crate) async fn open(&self) -> SqliteStore {
        SqliteStore::open(self.database()).await.unwrap()
    }
}

/// A session and the right to write it.
pub(crate) async fn claimed(store: &dyn Store, node: &str) -> (SessionId, Fence) {
    let new = NewSession::new("auto", "/project");
    let id = store.create_session(new).await.unwrap().id;
    match store.claim(&id, &node.into(), LONG).await.unwrap() {
        Claim::Claimed(lease) => (id, lease.fence),
        held => panic!("{held:?}"),
    }
}

/// What the event with this number says.
pub(crate) fn text(session: &SessionId, seq: u64) -> String {
    format!(r#"{{"session":"{session}","seq":{seq}}}"#)
}

/// Events with these numbers.
pub(crate) fn events(session: &SessionId, fence: Fence, first: u64, count: u64) -> Append {
    let event = |seq| NewEvent::new("test.event", text(session, seq));
    let events = (first..first + count).map(event).collect();
    Append::new(session.clone(), fence, first, events)
}

/// All events of a session; they are numbered without gaps and say what they should.
pub(crate) async fn checked_events(store: &dyn Store, session: &SessionId) -> Vec<EventRow> {
    let mut all: Vec<EventRow> = Vec::new();
    loop {
        let query = EventQuery::after(all.len() as u64);
        let page = store.events(session, query).await.unwrap();
        all.extend(page.events);
        if !page.more {
            assert_eq!(page.head, all.len() as u64);
            break;
        }
    }
    for (event, seq) in all.iter().zip(1..) {
        assert_eq!((event.seq, &event.json), (seq, &text(session, seq)));
    }
    all
}
