//! The cost of a permission request, as a ratio to a bare program on the same pipes, so that a
//! regression fails a test. `cargo xtask bench sdk` has the figures of a release build.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use falconer::{Decision, Options, query};
use falconer_testkit::{EngineScript, EngineStep, FakeEngine};
use serde_json::{Value, json};

/// Round trips of a round.
const TRIPS: usize = 200;
/// Rounds of each side, in turns; the best one counts, so that a busy machine does not.
const ROUNDS: usize = 12;

/// Percent of the time a bare program lets the engine wait. Debug builds take 160, on a busy
/// machine too.
const MOST_WAITED: u32 = 250;
/// Percent of the processor time of a bare program. Debug builds take 220.
const MOST_WORKED: u32 = 400;

/// The cost of one round trip.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// The median of the times that the engine waited for an answer.
    waited: Duration,
    /// Processor time of this process; other programs on the machine are not in it.
    worked: Duration,
}

impl Cost {
    const MOST: Self = Self {
        waited: Duration::MAX,
        worked: Duration::MAX,
    };

    fn least(self, other: Self) -> Self {
        Self {
            waited: self.waited.min(other.waited),
            worked: self.worked.min(other.worked),
        }
    }
}

#[tokio::test]
async fn a_permission_round_trip_costs_little_more_than_a_bare_one() {
    let (mut ours, mut bare) = (Cost::MOST, Cost::MOST);
    for _ in 0..ROUNDS {
        ours = ours.least(answer_with_the_library().await);
        bare = bare.least(answer_barely());
    }
    let both = format!("ours {ours:?}, bare {bare:?}");
    assert!(ours.waited < bare.waited * MOST_WAITED / 100, "{both}");
    assert!(ours.worked < bare.worked * MOST_WORKED / 100, "{both}");
}

fn engine() -> FakeEngine {
    let request = EngineScript::can_use_tool("Bash", json!({ "command": "cargo test" }));
    let count = TRIPS;
    let script = EngineScript::new()
        .initialize()
        .on_user()
        .step(EngineStep::RoundTrips { request, count })
        .turn("done");
    FakeEngine::script(&script).unwrap()
}

/// Reads the processor time at the first and at the last request, so that the start and the end
/// of a process do not count.
#[derive(Default)]
struct Meter {
    calls: AtomicUsize,
    first: OnceLock<Duration>,
    last: OnceLock<Duration>,
}

impl Meter {
    fn count(&self) {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if call == 1 {
            self.first.set(on_processor()).unwrap();
        } else if call == TRIPS {
            self.last.set(on_processor()).unwrap();
        }
    }

    fn cost(&self, engine: &FakeEngine) -> Cost {
        let report = engine.report().unwrap().remove(0);
        assert_eq!(report["errors"], 0, "{report}");
        let worked = *self.last.get().unwrap() - *self.first.get().unwrap();
        Cost {
            waited: Duration::from_secs_f64(report["p50_us"].as_f64().unwrap() / 1e6),
            worked: worked / u32::try_from(TRIPS - 1).unwrap(),
        }
    }
}

async fn answer_with_the_library() -> Cost {
    let engine = engine();
    let meter = Arc::new(Meter::default());
    let counted = meter.clone();
    let mut options = Options::new()
        .executable(engine.program())
        .on_permission(move |_| {
            counted.count();
            async { Decision::allow() }
        });
    for (name, value) in engine.env() {
        options = options.env(name, value);
    }
    let outcome = query("go", options).await.unwrap().outcome().await;
    assert_eq!(outcome.unwrap().text(), "done");
    meter.cost(&engine)
}

/// Reads a line, looks at it as a tree of values, writes a line: the least that a host does.
fn answer_barely() -> Cost {
    let engine = engine();
    let meter = Meter::default();
    let mut child = Command::new(engine.program())
        .envs(engine.env().iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut say = |line: Value| input.write_all(format!("{line}\n").as_bytes()).unwrap();
    say(json!({ "type": "control_request", "request_id": "1",
        "request": { "subtype": "initialize" } }));
    say(json!({ "type": "user", "message": { "role": "user", "content": "go" } }));
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if line["type"] == "result" {
            break;
        }
        if line["type"] == "control_request" {
            meter.count();
            let allowed = json!({ "behavior": "allow", "updatedInput": line["request"]["input"] });
            say(
                json!({ "type": "control_response", "response": { "subtype": "success",
                "request_id": line["request_id"], "response": allowed } }),
            );
        }
    }
    drop(input);
    child.wait().unwrap();
    meter.cost(&engine)
}

/// The processor time of the threads of this process that are there.
fn on_processor() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let nanos = threads.map(|thread| {
        let stat = std::fs::read_to_string(thread.unwrap().path().join("schedstat"));
        // A thread that has just ended is not there.
        let stat = stat.unwrap_or_default();
        stat.split(' ').next().unwrap().parse().unwrap_or(0)
    });
    Duration::from_nanos(nanos.sum())
}
