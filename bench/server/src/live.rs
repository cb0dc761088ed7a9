//! From the line of the engine to the client, with many live sessions; beside a bare axum.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::api;
use crate::arguments::Arguments;
use crate::figures::times;
use crate::follower::{Follower, Seen, client};
use crate::role::Serving;

/// Turns a second over all sessions: a load that a machine bears, not the most it can.
const PACE: Duration = Duration::from_millis(20);

pub(crate) fn sessions(arguments: &Arguments) {
    println!("\n## From the engine's line to an SSE client\n");
    println!(
        "Every session has an engine and a client; one of them after the other gets a prompt, fifty a second. Stored: events that are on the disk before they are sent. Pieces: parts of a text, which are not stored. Echo: axum alone, nothing stored.\n"
    );
    println!(
        "| sessions | stored p50 / p99 ms | pieces p50 / p99 ms | echo p50 / p99 ms | events | lost | doubled |"
    );
    println!("|---|---|---|---|---|---|---|");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for count in arguments.sessions() {
        let (mut seen, mut floor) = (Seen::default(), Seen::default());
        for _ in 0..arguments.rounds {
            add(
                &mut seen,
                runtime.block_on(round("serve", arguments, count)),
            );
            add(
                &mut floor,
                runtime.block_on(round("echo", arguments, count)),
            );
        }
        println!(
            "| {count} | {} | {} | {} | {} | {} | {} |",
            times(seen.stored),
            times(seen.pieces),
            times(floor.stored),
            seen.events,
            seen.lost,
            seen.doubled,
        );
    }
}

fn add(all: &mut Seen, more: Vec<Seen>) {
    for seen in more {
        all.events += seen.events;
        all.lost += seen.lost;
        all.doubled += seen.doubled;
        all.stored.extend(seen.stored);
        all.pieces.extend(seen.pieces);
    }
}

/// Who follows a session, and how he learns where it ends.
type Following = Vec<(JoinHandle<Seen>, oneshot::Sender<u64>)>;

async fn round(role: &str, arguments: &Arguments, count: usize) -> Vec<Seen> {
    let folder = arguments.folder();
    let serving = Serving::start(role, folder.path());
    let client = client();
    let paths = match role {
        "serve" => api::live(&client, &serving, folder.path(), count).await,
        _ => (0..count).map(|number| format!("/{number}")).collect(),
    };
    let mut following: Following = Vec::new();
    for path in &paths {
        let last = match role {
            "serve" => api::head(&client, &serving, path).await,
            _ => 0,
        };
        let url = format!("{}{path}/stream", serving.url);
        let follower = Follower::open(&client, &url, &serving.token, last).await;
        let follower = follower.expect("a stream");
        let (head, known) = oneshot::channel();
        let task = tokio::spawn(follower.until_head(Seen::after(last), known));
        following.push((task, head));
    }
    let said = speak(&client, &serving, &paths, arguments.time * 3).await;
    let mut seen = Vec::new();
    for ((number, path), (follower, known)) in paths.iter().enumerate().zip(following) {
        // What is stored is the measure; of the echo, what was posted.
        let head = match role {
            "serve" => api::at_rest(&client, &serving, path).await,
            _ => said[number],
        };
        // Who has ended is missing everything from there on.
        let _ = known.send(head);
        let mut one = follower.await.expect("no panic");
        one.lost += head.saturating_sub(one.last);
        seen.push(one);
    }
    seen
}

/// One session after the other gets a prompt; how many each got.
async fn speak(
    client: &reqwest::Client,
    serving: &Serving,
    paths: &[String],
    time: Duration,
) -> Vec<u64> {
    let mut counts = vec![0; paths.len()];
    let until = Instant::now() + time;
    let mut pace = tokio::time::interval(PACE);
    let mut said = 0;
    while Instant::now() < until {
        pace.tick().await;
        said += 1;
        api::say(client, serving, &paths[said % paths.len()], said).await;
        counts[said % paths.len()] += 1;
    }
    counts
}
