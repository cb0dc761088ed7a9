//! What a server takes that has nothing to do: memory per session, and time to start.

use tokio::sync::watch;

use crate::api;
use crate::arguments::Arguments;
use crate::figures::{spread, times};
use crate::follower::{Follower, Seen, client};
use crate::other;
use crate::role::Serving;

pub(crate) fn sessions(arguments: &Arguments) {
    println!("\n## Memory of the server per idle session\n");
    println!("The engine runs and waits; then a client follows as well. KB of resident memory.\n");
    println!("| sessions | server alone KB | per session KB | per session and client KB |");
    println!("|---|---|---|---|");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for count in arguments.sessions() {
        let (mut alone, mut engines, mut clients) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..arguments.rounds {
            let [before, live, followed] = runtime.block_on(round(arguments, count));
            alone.push(before);
            engines.push((live - before) / count as f64);
            clients.push((followed - before) / count as f64);
        }
        println!(
            "| {count} | {} | {} | {} |",
            spread(&alone),
            spread(&engines),
            spread(&clients)
        );
    }
}

async fn round(arguments: &Arguments, count: usize) -> [f64; 3] {
    let folder = arguments.folder();
    let serving = Serving::start("serve", folder.path());
    let client = client();
    let before = serving.memory();
    let paths = api::live(&client, &serving, folder.path(), count).await;
    let live = serving.memory();
    let (_stop, stopped) = watch::channel(false);
    let mut following = tokio::task::JoinSet::new();
    for path in &paths {
        let head = api::head(&client, &serving, path).await;
        let url = format!("{}{path}/stream", serving.url);
        let follower = Follower::open(&client, &url, &serving.token, head).await;
        let follower = follower.expect("a stream");
        following.spawn(follower.until(Seen::after(head), stopped.clone()));
    }
    [before, live, serving.memory()]
}

pub(crate) fn starts(arguments: &Arguments) {
    let (mut new, mut old, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    let (mut theirs, mut their_memory) = (Vec::new(), Vec::new());
    let (mut own_memory, mut bare_memory) = (Vec::new(), Vec::new());
    let program = other::program();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for _ in 0..arguments.rounds * 3 {
        let folder = arguments.folder();
        let echo = Serving::start("echo", folder.path());
        bare.push(echo.start);
        bare_memory.push(echo.memory());
        if let Some(program) = &program {
            let (start, memory) = other::start(program, folder.path());
            theirs.push(start);
            their_memory.push(memory);
        }
        let serving = Serving::start("serve", folder.path());
        new.push(serving.start);
        own_memory.push(serving.memory());
        let count = arguments.most().min(100);
        runtime.block_on(api::live(&client(), &serving, folder.path(), count));
        drop(serving);
        // The first one after a death closes what was open; the second finds nothing to do.
        drop(Serving::start("serve", folder.path()));
        old.push(Serving::start("serve", folder.path()).start);
    }
    println!("\n## From the start of the process until it has answered whether it is ready\n");
    println!("| server | p50 / p99 ms (goal: below 100) | memory then KB |");
    println!("|---|---|---|");
    let own = spread(&own_memory);
    println!("| falconer, no store yet | {} | {own} |", times(new));
    println!("| falconer, with sessions | {} | |", times(old));
    println!(
        "| axum alone | {} | {} |",
        times(bare),
        spread(&bare_memory)
    );
    if let Some(program) = program {
        let (name, memory) = (other::version(&program), spread(&their_memory));
        println!("| {name} | {} | {memory} |", times(theirs));
    }
}
