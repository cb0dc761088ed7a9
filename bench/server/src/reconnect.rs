//! All clients at once on a server that has just been started, after its predecessor was killed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Barrier, watch};

use crate::api;
use crate::arguments::Arguments;
use crate::figures::{percentile, spread};
use crate::follower::{Follower, Seen, client};
use crate::role::Serving;

/// What a client tries next.
#[derive(Clone)]
struct Door {
    url: String,
    token: String,
}

pub(crate) fn clients(arguments: &Arguments) {
    let count = arguments.most();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (mut ready, mut all, mut middle) = (Vec::new(), Vec::new(), Vec::new());
    let (mut events, mut lost, mut doubled) = (0, 0, 0);
    for _ in 0..arguments.rounds {
        let round = runtime.block_on(round(arguments, count));
        ready.push(round.ready.as_secs_f64() * 1e3);
        let mut times = round.times;
        times.sort_unstable();
        middle.push(percentile(&times, 0.5));
        all.push(percentile(&times, 1.0));
        events += round.events;
        lost += round.lost;
        doubled += round.doubled;
    }
    println!("\n## {count} SSE clients after `kill -9` of the server\n");
    println!(
        "Each follows a session whose engine ran. From the start of the next server; each client has come back when it knows everything up to the head, with the end of the run that was cut.\n"
    );
    println!("| server ready ms | half of them back ms | all back ms | events | lost | doubled |");
    println!("|---|---|---|---|---|---|");
    println!(
        "| {} | {} | {} | {events} | {lost} | {doubled} |",
        spread(&ready),
        spread(&middle),
        spread(&all)
    );
}

struct Round {
    ready: Duration,
    times: Vec<Duration>,
    events: u64,
    lost: u64,
    doubled: u64,
}

async fn round(arguments: &Arguments, count: usize) -> Round {
    let folder = arguments.folder();
    let serving = Serving::start("serve", folder.path());
    let client = client();
    let paths = api::live(&client, &serving, folder.path(), count).await;
    let (door, next) = watch::channel(Door {
        url: serving.url.clone(),
        token: serving.token.clone(),
    });
    let there = Arc::new(Barrier::new(count + 1));
    let mut following = Vec::new();
    for path in &paths {
        let head = api::head(&client, &serving, path).await;
        let (client, path) = (client.clone(), path.clone());
        let (next, there) = (next.clone(), there.clone());
        following.push(tokio::spawn(follow(client, path, head, next, there)));
    }
    there.wait().await;
    drop(serving);
    let started = Instant::now();
    // Its start is waited for without a thread of the runtime.
    let place = folder.path().to_owned();
    let serving = tokio::task::spawn_blocking(move || Serving::start("serve", &place));
    let serving = serving.await.expect("no panic");
    let mut round = Round {
        ready: serving.start,
        times: Vec::new(),
        events: 0,
        lost: 0,
        doubled: 0,
    };
    door.send_replace(Door {
        url: serving.url.clone(),
        token: serving.token.clone(),
    });
    let mut back = Vec::new();
    for follower in following {
        back.push(follower.await.expect("no panic"));
    }
    for ((at, seen), path) in back.into_iter().zip(&paths) {
        round.times.push(at.duration_since(started));
        // What is stored is the measure; asked for when everybody is back.
        let head = api::head(&client, &serving, path).await;
        round.events += seen.events;
        round.lost += seen.lost + head.saturating_sub(seen.last);
        round.doubled += seen.doubled;
    }
    round
}

/// Follows, loses the server, comes back, and says when it knew everything again.
async fn follow(
    client: reqwest::Client,
    path: String,
    head: u64,
    mut next: watch::Receiver<Door>,
    there: Arc<Barrier>,
) -> (Instant, Seen) {
    let door = next.borrow_and_update().clone();
    let url = format!("{}{path}/stream", door.url);
    let mut follower = Follower::open(&client, &url, &door.token, 0).await;
    let follower = follower.as_mut().expect("a stream");
    let mut seen = Seen::default();
    while seen.last < head && follower.take(&mut seen).await {}
    there.wait().await;
    while follower.take(&mut seen).await {}
    next.changed().await.expect("another server");
    let door = next.borrow().clone();
    let url = format!("{}{path}/stream", door.url);
    // The first frame says how far the session goes; the recovery has written the end of the run.
    seen.head = None;
    while !seen.is_complete() {
        let Some(mut follower) = Follower::open(&client, &url, &door.token, seen.last).await else {
            continue;
        };
        while !seen.is_complete() && follower.take(&mut seen).await {}
    }
    (Instant::now(), seen)
}
