//! The suite every backend passes, on a file with two instances and in memory.

use std::sync::Arc;

use super::SqliteStore;
use crate::Store;
use crate::conformance::Stores;

mod in_a_file {
    use super::{Arc, SqliteStore, Store, Stores};

    async fn stores() -> Stores {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path).await.unwrap());
        let second: Arc<dyn Store> = Arc::new(SqliteStore::open(&path).await.unwrap());
        Stores {
            store,
            second,
            keep: Arc::new(folder),
        }
    }

    crate::conformance_tests!(stores);
}

mod in_memory {
    use super::{Arc, SqliteStore, Store, Stores};

    async fn stores() -> Stores {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().await.unwrap());
        Stores {
            second: Arc::clone(&store),
            store,
            keep: Arc::new(()),
        }
    }

    crate::conformance_tests!(stores);
}

mod connections {
    use crate::sqlite::{Durability, SqliteOptions};

    async fn pragma(options: &SqliteOptions, sql: &'static str) -> String {
        let mut connection = options.connect().await.unwrap();
        sqlx::query_scalar(sql)
            .fetch_one(&mut connection)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn a_commit_is_flushed_unless_told_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        crate::SqliteStore::open(&path).await.unwrap();
        let options = SqliteOptions::new(&path);
        // 2 is FULL: the log is flushed at every commit. 1 is NORMAL.
        assert_eq!(
            pragma(
                &options,
                "SELECT CAST(synchronous AS TEXT) FROM pragma_synchronous"
            )
            .await,
            "2"
        );
        assert_eq!(
            pragma(
                &options,
                "SELECT CAST(journal_mode AS TEXT) FROM pragma_journal_mode"
            )
            .await,
            "wal"
        );
        assert_eq!(
            pragma(
                &options,
                "SELECT CAST(foreign_keys AS TEXT) FROM pragma_foreign_keys"
            )
            .await,
            "1"
        );
        let relaxed = options.durability(Durability::Process);
        assert_eq!(
            pragma(
                &relaxed,
                "SELECT CAST(synchronous AS TEXT) FROM pragma_synchronous"
            )
            .await,
            "1"
        );
    }
}

mod clocks {
    use std::time::Duration;

    use crate::sqlite::clock::Clock;
    use crate::sqlite::{SqliteOptions, SqliteStore};
    use crate::{Claim, Death, NewSession, SessionId, Store};

    const HOUR: i64 = 3_600_000_000;
    const LEASE: Duration = Duration::from_secs(30);

    async fn open(path: &std::path::Path, clock: Clock) -> SqliteStore {
        let mut options = SqliteOptions::new(path);
        options.clock = clock;
        options.open().await.unwrap()
    }

    fn jumped(micros: i64) -> Clock {
        let mut clock = Clock::new();
        clock.wall_offset = micros;
        clock
    }

    /// A file with a session that node `a` claimed for a while.
    async fn claimed(lease: Duration) -> (tempfile::TempDir, std::path::PathBuf, SessionId) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store = SqliteStore::open(&path).await.unwrap();
        let session = store.create_session(NewSession::new("auto", "/p")).await;
        let session = session.unwrap().id;
        let claim = store.claim(&session, &"a".into(), lease).await.unwrap();
        assert!(matches!(claim, Claim::Claimed(_)));
        (folder, path, session)
    }

    #[tokio::test]
    async fn a_clock_that_is_set_ends_no_lease() {
        for jump in [HOUR, -HOUR, 0] {
            let (_folder, path, session) = claimed(LEASE).await;
            let other = open(&path, jumped(jump)).await;
            let claim = other.claim(&session, &"b".into(), LEASE).await.unwrap();
            assert!(matches!(claim, Claim::Held { .. }), "{jump}: {claim:?}");
            let (silent, heir) = (Death::Silent, "b".into());
            let taken = other.take_over(&"a".into(), silent, &heir, LEASE).await;
            assert_eq!(taken.unwrap(), []);
            assert!(!other.owners().await.unwrap()[0].is_expired, "{jump}");
        }
    }

    #[tokio::test]
    async fn a_clock_that_is_set_back_keeps_no_lease_alive() {
        let (_folder, path, _) = claimed(Duration::ZERO).await;
        let other = open(&path, jumped(-HOUR)).await;
        assert!(other.owners().await.unwrap()[0].is_expired);
        let (silent, heir) = (Death::Silent, "b".into());
        let taken = other.take_over(&"a".into(), silent, &heir, LEASE).await;
        assert_eq!(taken.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_lease_of_another_boot_is_judged_by_the_wall_clock() {
        let (_folder, path, session) = claimed(LEASE).await;
        let mut clock = Clock::of_another_boot();
        let soon = open(&path, clock.clone()).await;
        let claim = soon.claim(&session, &"b".into(), LEASE).await.unwrap();
        assert!(matches!(claim, Claim::Held { .. }), "{claim:?}");
        clock.wall_offset = HOUR;
        let later = open(&path, clock).await;
        assert!(later.owners().await.unwrap()[0].is_expired);
        let claim = later.claim(&session, &"b".into(), LEASE).await.unwrap();
        assert!(matches!(claim, Claim::Claimed(_)), "{claim:?}");
    }
}
