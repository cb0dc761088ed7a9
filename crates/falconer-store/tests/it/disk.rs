//! A disk that is full, and one that cannot be written.
//!
//! Both are small file systems in memory, mounted where nobody else sees them.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use falconer_store::{Append, Error, EventQuery, NewEvent, SqliteStore, Store};

use crate::child::{self, Played, say};
use crate::scene::{Scene, checked_events, claimed, events};

/// Runs a shell script that sees a disk of 4 MiB at `$DISK` and plays roles there with `role`.
fn on_a_small_disk(scene: &Scene, script: &str) -> Vec<String> {
    let database = scene.database();
    let role = child::command("$ROLE", &database);
    let arguments: Vec<_> = role.get_args().map(|word| word.to_str().unwrap()).collect();
    let prelude = format!(
        "mount -t tmpfs -o size=4m tmpfs \"$DISK\" || exit 9\n\
         role() {{ FALCONER_STORE_TEST_ROLE=$1 \"$PROGRAM\" {}; }}\n",
        arguments.join(" "),
    );
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-ec"])
        .arg(prelude + script)
        .env("DISK", scene.folder())
        .env("PROGRAM", role.get_program())
        .envs(
            role.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .process_group(0);
    Played::start(command).finish()
}

/// The role of a process that fills the disk, and goes on when there is room again.
pub(crate) async fn fill(database: &Path) {
    let ballast = database.with_file_name("ballast");
    std::fs::write(&ballast, vec![7; 2 << 20]).unwrap();
    let store = SqliteStore::open(database).await.unwrap();
    let (id, fence) = claimed(&store, "a").await;
    let (other, other_fence) = claimed(&store, "a").await;
    let mut head = 0;
    let error = loop {
        let large = NewEvent::new("large", "x".repeat(100_000));
        match store
            .append(Append::new(id.clone(), fence, head + 1, vec![large]))
            .await
        {
            Ok(now) => head = now,
            Err(error) => break error,
        }
        assert!(head < 1_000, "the disk is not small");
    };
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
    assert!(error.is_retryable());
    say(&error);
    let not_ready = store.ping().await;
    assert!(
        matches!(not_ready, Err(Error::Full { .. })),
        "{not_ready:?}"
    );
    // Reading goes on, and shows what was acknowledged.
    assert_eq!(store.session(&id).await.unwrap().head, head);
    let page = store
        .events(&id, EventQuery::after(head - 1))
        .await
        .unwrap();
    assert_eq!((page.head, page.events[0].json.len()), (head, 100_000));

    std::fs::remove_file(ballast).unwrap();
    store.ping().await.unwrap();
    let large = NewEvent::new("large", "x".repeat(100_000));
    let append = Append::new(id.clone(), fence, head + 1, vec![large]);
    assert_eq!(store.append(append).await.unwrap(), head + 1);
    store
        .append(events(&other, other_fence, 1, 3))
        .await
        .unwrap();
    store.close().await.unwrap();
    let store = SqliteStore::open(database).await.unwrap();
    assert_eq!(store.session(&id).await.unwrap().head, head + 1);
    assert_eq!(checked_events(&store, &other).await.len(), 3);
    say("recovered");
}

#[test]
fn a_full_disk_is_told_and_survived() {
    let scene = Scene::new();
    let said = on_a_small_disk(&scene, "role fill");
    let path = scene.database();
    let full = format!("no room left on the disk for {}", path.display());
    assert_eq!(said, [full, "recovered".to_owned()]);
}

/// The role of a process that makes a store and leaves.
pub(crate) async fn make(database: &Path) {
    let store = SqliteStore::open(database).await.unwrap();
    claimed(&store, "a").await;
    store.close().await.unwrap();
}

/// The role of a process that cannot open a store.
pub(crate) async fn fail_to_open(database: &Path) {
    match SqliteStore::open(database).await {
        Err(error @ Error::ReadOnly { .. }) => say(error),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_disk_that_cannot_be_written_is_told() {
    let scene = Scene::new();
    let path = scene.database();
    let script = "mount -o remount,ro \"$DISK\"; role fail
                  mount -o remount,rw \"$DISK\"; role make
                  mount -o remount,ro \"$DISK\"; role fail";
    let said = on_a_small_disk(&scene, script);
    assert_eq!(said.len(), 2, "{said:?}");
    for said in said {
        let start = format!("{} cannot be written: ", path.display());
        assert!(said.starts_with(&start), "{said}");
    }
}
