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
