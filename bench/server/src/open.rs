//! How long it takes until a store can be used.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use falconer_store::{SqliteStore, Store};

use crate::append::prepare;
use crate::arguments::Arguments;
use crate::figures::times;

pub(crate) fn stores(arguments: &Arguments) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (mut new, mut old) = (Vec::new(), Vec::new());
    for _ in 0..arguments.rounds * 5 {
        let folder = arguments.folder();
        let path = folder.path().join("store.db");
        new.push(runtime.block_on(opened(&path, 1_000)));
        old.push(runtime.block_on(opened(&path, 0)));
    }
    println!("\n## From nothing to the first read\n");
    println!("| store | p50 / p99 ms |");
    println!("|---|---|");
    println!("| a new file | {} |", times(new));
    println!("| a file with 1,000 sessions | {} |", times(old));
}

/// Opens it, reads, and leaves so many more sessions behind; how long until the read was done.
async fn opened(path: &Path, sessions: usize) -> std::time::Duration {
    let started = Instant::now();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path).await.expect("the store opens"));
    let page = store
        .sessions(falconer_store::SessionQuery::default())
        .await;
    page.expect("a page");
    let took = started.elapsed();
    prepare(&store, sessions).await;
    store.close().await.expect("the store closes");
    took
}
