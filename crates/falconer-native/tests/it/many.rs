//! Many sessions in one process.

use falconer::{Client, query};
use falconer_native::{NativeEngine, Scenario};
use falconer_scenario::{text, tool_use};
use serde_json::json;
use tokio::task::JoinSet;

use crate::workplace::Workplace;

const SESSIONS: usize = 1_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_sessions_lose_nothing() {
    let place = Workplace::new();
    let file = place.write("shared.txt", "the same for all\n");
    let scenario = Scenario::new()
        .turn(tool_use("Read", json!({ "file_path": file })))
        .turn(text("read it"));
    let engine = NativeEngine::scripted(scenario);
    let mut sessions = JoinSet::new();
    for _ in 0..SESSIONS {
        let options = place.options_of(engine.clone()).without_persistence();
        sessions.spawn(async move {
            let outcome = query("go", options).await?.outcome().await?;
            Ok::<_, falconer::Error>(outcome.text().to_owned())
        });
    }
    let mut answered = 0;
    while let Some(session) = sessions.join_next().await {
        assert_eq!(session.unwrap().unwrap(), "read it");
        answered += 1;
    }
    assert_eq!(answered, SESSIONS);
}

/// Set in the process that is measured: nothing else runs in it.
const MEASURED: &str = "FALCONER_TEST_IDLE_SESSIONS";
/// A debug build takes about a tenth of it, and the official CLI, a process each, a thousand times that.
const MOST_KIB: u64 = 400;

/// `cargo xtask bench engine` measures ten thousand in a release build.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_session_takes_little_memory() {
    if std::env::var_os(MEASURED).is_none() {
        let test = "many::an_idle_session_takes_little_memory";
        let measured = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(MEASURED, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&measured.stderr).into_owned();
        assert!(measured.status.success(), "{said}");
        return;
    }
    let place = Workplace::new();
    let engine = NativeEngine::scripted(Scenario::new().turn(text("hi")));
    let mut idle = Vec::new();
    let mut before = 0;
    for number in 0..300 {
        // The first ones bring what all share.
        if number == 100 {
            before = resident();
        }
        let options = place.options_of(engine.clone()).without_persistence();
        idle.push(Client::connect(options).await.unwrap());
    }
    let each = (resident() - before) / 200;
    assert!(each < MOST_KIB, "{each} KiB each");
    eprintln!("{each} KiB each");
}

/// The memory of this process, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}
