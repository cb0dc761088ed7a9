//! The file: who may read it, and what if it is not what it should be.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use falconer_store::{
    Append, AuditId, Error, EventQuery, Guard, NewAudit, NewEvent, SqliteStore, Store,
};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};

use crate::scene::{Scene, checked_events, claimed, events};

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn only_the_user_can_read_it() {
    let scene = Scene::new();
    let folder = scene.folder().join("new/deeper");
    let path = folder.join("store.db");
    let store = SqliteStore::open(&path).await.unwrap();
    claimed(&store, "a").await;
    assert_eq!(
        (mode(&folder), mode(scene.folder().join("new"))),
        (0o700, 0o700)
    );
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        assert_eq!(mode(folder.join(name)), 0o600, "{name}");
    }
    store.close().await.unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    claimed(&store, "a").await;
    assert_eq!(
        (mode(&path), mode(folder.join("store.db-wal"))),
        (0o600, 0o600)
    );
}

#[tokio::test]
async fn what_is_no_database_is_refused_and_left_alone() {
    for (what, bytes) in [
        (
            "text",
            b"not a database, but long enough to look like something".repeat(100),
        ),
        ("zeros", vec![0; 8192]),
        ("a header and nothing else", b"SQLite format 3\0".to_vec()),
    ] {
        let scene = Scene::new();
        fs::write(scene.database(), &bytes).unwrap();
        let refused = SqliteStore::open(scene.database()).await;
        let error = refused.expect_err(what);
        assert!(matches!(error, Error::Corrupt { .. }), "{what}: {error:?}");
        assert!(
            error.to_string().contains("store.db is damaged: "),
            "{error}"
        );
        assert_eq!(fs::read(scene.database()).unwrap(), bytes, "{what}");
    }
}

#[tokio::test]
async fn an_empty_file_becomes_a_store_and_a_folder_does_not() {
    let scene = Scene::new();
    fs::write(scene.database(), "").unwrap();
    let store = scene.open().await;
    claimed(&store, "a").await;
    let error = SqliteStore::open(scene.folder()).await.unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
}

#[tokio::test]
async fn damage_in_the_middle_is_an_error_and_nothing_worse() {
    let scene = Scene::new();
    let store = scene.open().await;
    let (id, fence) = claimed(&store, "a").await;
    let large = |_| NewEvent::new("large", format!("\"{}\"", "x".repeat(3_000)));
    let append = Append::new(id.clone(), fence, 1, (0..200).map(large).collect());
    store.append(append).await.unwrap();
    store.close().await.unwrap();

    let whole = fs::read(scene.database()).unwrap();
    let mut damaged = 0;
    for page in 0..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..][..4096].fill(0xaa);
        fs::write(scene.database(), bytes).unwrap();
        let outcome = read_everything(&scene, &id).await;
        match outcome {
            Ok(()) => {}
            Err(Error::Corrupt { .. }) => damaged += 1,
            // A lost row of a session, or a table that lost its root.
            Err(Error::NotFound { .. } | Error::Io { .. }) => {}
            Err(other) => panic!("page {page}: {other:?}"),
        }
    }
    assert!(damaged > 50, "{damaged}");
}

async fn read_everything(scene: &Scene, id: &falconer_store::SessionId) -> Result<(), Error> {
    let store = SqliteStore::open(scene.database()).await?;
    store.session(id).await?;
    let mut seen = 0;
    loop {
        let page = store.events(id, EventQuery::after(seen)).await?;
        seen += page.events.len() as u64;
        if !page.more {
            store.close().await?;
            return Ok(());
        }
    }
}

#[tokio::test]
async fn the_audit_cannot_be_changed_even_from_outside() {
    let scene = Scene::new();
    let store = scene.open().await;
    store.audit(NewAudit::new("me", "did it")).await.unwrap();
    let options = SqliteConnectOptions::new().filename(scene.database());
    let mut stranger = options.connect().await.unwrap();
    for sql in ["UPDATE audit SET who = 'you'", "DELETE FROM audit"] {
        let error = stranger.execute(sql).await.unwrap_err().to_string();
        assert!(error.contains("the audit cannot be changed"), "{error}");
    }
    let page = store.audit_log(AuditId(0), 10).await.unwrap();
    assert_eq!(page.records[0].who, "me");
}

#[tokio::test]
async fn what_is_deleted_is_not_in_the_file_any_more() {
    let scene = Scene::new();
    let store = scene.open().await;
    let (gone, fence) = claimed(&store, "a").await;
    let secret = |n| NewEvent::new("x", format!("\"the secret number {n}\""));
    let append = Append::new(gone.clone(), fence, 1, (0..5_000).map(secret).collect());
    store.append(append).await.unwrap();
    let (kept, kept_fence) = claimed(&store, "a").await;
    store.append(events(&kept, kept_fence, 1, 3)).await.unwrap();
    store
        .delete_session(&gone, Guard::Holder(fence))
        .await
        .unwrap();
    // The events go some at a time, when nobody waits; a new start goes on with it.
    store.close().await.unwrap();
    let holds = |text: &str| {
        let bytes = fs::read(scene.database()).unwrap();
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    };
    let deadline = std::time::Instant::now() + crate::scene::LONG;
    while holds("the secret number") {
        assert!(std::time::Instant::now() < deadline, "it is still there");
        let store = scene.open().await;
        store.ping().await.unwrap();
        store.close().await.unwrap();
    }
    let store = scene.open().await;
    assert_eq!(checked_events(&store, &kept).await.len(), 3);
}
