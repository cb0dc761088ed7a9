//! Many sessions in one process.

use falconer::query;
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
