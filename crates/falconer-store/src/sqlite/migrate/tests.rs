//! Steps that fail, and steps two take at the same time.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::SqliteConnection;

use super::{STEPS, number, take};
use crate::Error;
use crate::sqlite::SqliteOptions;
use crate::sqlite::fault::Place;

const SECOND: &str = "ALTER TABLE sessions ADD COLUMN extra TEXT";
const BAD: &str = "CREATE TABLE half_way (x); INSERT INTO nowhere VALUES (1)";

async fn connection(path: &Path) -> (SqliteConnection, Place) {
    let options = SqliteOptions::new(path).busy_timeout(Duration::from_secs(60));
    crate::sqlite::file::prepare(path).unwrap();
    (options.connect().await.unwrap(), options.place())
}

#[tokio::test]
async fn each_step_is_taken_once_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (mut connection, place) = connection(&folder.path().join("store.db")).await;
    take(&mut connection, &place, STEPS).await.unwrap();
    let steps = [STEPS, &[SECOND]].concat();
    for _ in 0..2 {
        take(&mut connection, &place, &steps).await.unwrap();
        let version = number(&mut connection, "PRAGMA user_version")
            .await
            .unwrap();
        assert_eq!(version, steps.len() as i64);
    }
    // The version before knows that it does not know this one.
    let refused = take(&mut connection, &place, STEPS).await;
    assert!(matches!(refused, Err(Error::TooNew { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_step_that_fails_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut connection, place) = connection(&folder.path().join("store.db")).await;
    let steps = [STEPS, &[BAD]].concat();
    let refused = take(&mut connection, &place, &steps).await;
    assert!(matches!(refused, Err(Error::Io { .. })), "{refused:?}");
    let half = "SELECT count(*) FROM sqlite_schema WHERE name = 'half_way'";
    assert_eq!(number(&mut connection, half).await.unwrap(), 0);
    take(&mut connection, &place, STEPS).await.unwrap();
    let version = number(&mut connection, "PRAGMA user_version")
        .await
        .unwrap();
    assert_eq!(version, STEPS.len() as i64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_at_the_same_time_take_each_step_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let steps = [STEPS, &[SECOND, "CREATE TABLE third (x)"]].concat();
    let tasks: Vec<_> = (0..6)
        .map(|_| {
            let (path, steps) = (path.clone(), steps.clone());
            tokio::spawn(async move {
                let (mut connection, place) = connection(&path).await;
                take(&mut connection, &place, &steps).await
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
}
