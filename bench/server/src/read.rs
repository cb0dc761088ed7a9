//! Reading pages while others write: readers and the writer must not wait for each other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use falconer_store::{EventQuery, SqliteOptions, Store};

use crate::append::{Writer, event, prepare};
use crate::arguments::Arguments;
use crate::figures::{spread, times};

pub(crate) fn while_writing(arguments: &Arguments) {
    println!("\n## Pages of 100 events read, by 4 readers\n");
    println!("| meanwhile | pages/s | page p50 / p99 ms | appends/s |");
    println!("|---|---|---|---|");
    for (name, writers) in [("nobody writes", 0), ("100 sessions append", 100)] {
        let mut rates = Vec::new();
        let mut appends = Vec::new();
        let mut all = Vec::new();
        for _ in 0..arguments.rounds {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            let (pages, appended) = runtime.block_on(round(arguments, writers));
            rates.push(pages.len() as f64 / arguments.time.as_secs_f64());
            appends.push(appended as f64 / arguments.time.as_secs_f64());
            all.extend(pages);
        }
        println!(
            "| {name} | {} | {} | {} |",
            spread(&rates),
            times(all),
            spread(&appends)
        );
    }
}

async fn round(arguments: &Arguments, writers: usize) -> (Vec<Duration>, usize) {
    let folder = arguments.folder();
    let options = SqliteOptions::new(folder.path().join("store.db"));
    let store: Arc<dyn Store> = Arc::new(options.open().await.expect("the store opens"));
    let mut sessions = prepare(&store, writers + 1).await;
    let (read, fence) = sessions.remove(0);
    let writer = |id, fence, count| Writer {
        store: Arc::clone(&store),
        id,
        fence,
        events: vec![event(); count],
    };
    let filled =
        writer(read.clone(), fence, 256).write(Instant::now() + Duration::from_millis(200));
    let pages = filled.await.len() as u64 * 256 / 100;
    let until = Instant::now() + arguments.time;
    let writing: Vec<_> = sessions
        .into_iter()
        .map(|(id, fence)| tokio::spawn(writer(id, fence, 4).write(until)))
        .collect();
    let reading: Vec<_> = (0..4)
        .map(|reader| {
            let (store, read) = (Arc::clone(&store), read.clone());
            tokio::spawn(async move {
                let mut times = Vec::new();
                let mut page = reader;
                while Instant::now() < until {
                    let query = EventQuery::after(page % pages * 100).limit(100);
                    let before = Instant::now();
                    let found = store.events(&read, query).await.expect("a page");
                    times.push(before.elapsed());
                    assert!(!found.events.is_empty());
                    page += 1;
                }
                times
            })
        })
        .collect();
    let mut times = Vec::new();
    for reader in reading {
        times.extend(reader.await.expect("a reader that ends"));
    }
    let mut appends = 0;
    for writer in writing {
        appends += writer.await.expect("a writer that ends").len();
    }
    store.close().await.expect("the store closes");
    (times, appends)
}
