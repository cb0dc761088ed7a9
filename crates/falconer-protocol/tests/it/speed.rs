//! What decoding costs, as a ratio, so that a regression fails a test. `cargo xtask bench sdk` has the
//! figures of a release build.

use std::time::Duration;

use falconer_protocol::RawMessage;
use serde_json::Value;

use crate::cassette::recorded_lines;

/// The time this thread has had on a processor; what others do on the machine is not in it.
fn on_processor() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanos = stat.split(' ').next().unwrap().parse().unwrap();
    Duration::from_nanos(nanos)
}

/// The least of several rounds.
fn least(mut work: impl FnMut()) -> Duration {
    let round = |_| {
        let before = on_processor();
        work();
        on_processor() - before
    };
    (0..5).map(round).min().unwrap()
}

/// Every message as its type costs about what a tree of values would.
#[test]
fn decoding_costs_little_more_than_a_tree_of_values() {
    let lines: Vec<Vec<u8>> = recorded_lines()
        .iter()
        .filter(|line| line.from_engine)
        .map(|line| serde_json::to_vec(&line.value).unwrap())
        .collect();
    let typed = least(|| {
        for line in &lines {
            let raw = RawMessage::new(line.clone().into()).unwrap();
            std::hint::black_box(raw.decode().unwrap());
        }
    });
    let tree = least(|| {
        for line in &lines {
            std::hint::black_box(serde_json::from_slice::<Value>(line).unwrap());
        }
    });
    assert!(typed < tree * 2, "typed {typed:?}, tree {tree:?}");
}
