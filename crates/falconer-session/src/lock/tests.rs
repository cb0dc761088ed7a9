//! Locks within one process; `tests/it` has those between processes.

use super::*;

fn locks() -> (tempfile::TempDir, SessionLocks) {
    let directory = tempfile::tempdir().unwrap();
    let locks = SessionLocks::new(directory.path().join("locks"));
    (directory, locks)
}

#[test]
fn a_session_is_held_once_and_given_back() {
    let (_directory, locks) = locks();
    let first = locks.try_lock("a/../b").unwrap();
    assert_eq!(first.session(), "a/../b");
    assert!(matches!(
        locks.try_lock("a/../b"),
        Err(LockError::Held {
            holder: Holder::ThisProcess,
            ..
        })
    ));
    let _other = locks.try_lock("other").unwrap();
    drop(first);
    drop(locks.try_lock("a/../b").unwrap());
}

#[test]
fn a_released_lock_leaves_no_file() {
    let (_directory, locks) = locks();
    drop(locks.try_lock("a").unwrap());
    assert_eq!(std::fs::read_dir(locks.directory()).unwrap().count(), 0);
}

#[test]
fn a_file_left_by_a_dead_holder_is_taken_over() {
    let (_directory, locks) = locks();
    drop(locks.try_lock("a").unwrap());
    std::fs::write(
        locks
            .directory()
            .join(format!("{}.lock", &blake3::hash(b"a").to_hex()[..32])),
        r#"{"pid":1,"session":"a"}"#,
    )
    .unwrap();
    drop(locks.try_lock("a").unwrap());
}

#[test]
fn a_directory_that_cannot_be_used_is_an_error_and_keeps_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let locks = SessionLocks::new(file.join("locks"));
    assert!(matches!(locks.try_lock("a"), Err(LockError::Io { .. })));
    // The entry in the table went with the failure.
    assert!(matches!(locks.try_lock("a"), Err(LockError::Io { .. })));
}

#[test]
fn a_symlink_in_place_of_the_file_is_refused() {
    let (directory, locks) = locks();
    let target = directory.path().join("target");
    std::fs::write(&target, "precious").unwrap();
    std::fs::create_dir_all(locks.directory()).unwrap();
    let name = format!("{}.lock", &blake3::hash(b"a").to_hex()[..32]);
    std::os::unix::fs::symlink(&target, locks.directory().join(name)).unwrap();
    assert!(matches!(locks.try_lock("a"), Err(LockError::Io { .. })));
    assert_eq!(std::fs::read_to_string(target).unwrap(), "precious");
}

#[tokio::test(start_paused = true)]
async fn who_waits_gets_the_lock_when_it_is_given_back() {
    let (_directory, locks) = locks();
    let first = locks.try_lock("a").unwrap();
    let waiting = tokio::spawn({
        let locks = locks.clone();
        async move { locks.lock("a", Duration::from_secs(10)).await.map(drop) }
    });
    tokio::task::yield_now().await;
    drop(first);
    waiting.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn waiting_has_an_end() {
    let (_directory, locks) = locks();
    let _first = locks.try_lock("a").unwrap();
    let waited = locks.lock("a", Duration::from_secs(3)).await;
    assert!(matches!(waited, Err(LockError::Held { .. })));
}

#[test]
fn of_many_threads_one_wins_each_time() {
    let (_directory, locks) = locks();
    let inside = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    if let Ok(lock) = locks.try_lock("a") {
                        let before = inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        assert_eq!(before, 0);
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(lock);
                    }
                }
            });
        }
    });
}
