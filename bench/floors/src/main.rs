//! What reading the pipe costs without an SDK: the floor under every peer.
//!
//! `bench-floors <scenario> <kind>`, where the kind says how much of a line is
//! looked at: `split`, `lazy`, `peek`, `typed` or `value`.

mod decode;
mod engine;

use std::hint::black_box;
use std::time::Instant;

use bench_probe::{Report, Scenario};
use decode::Kind;
use engine::Engine;

fn main() {
    let kind = Kind::from_arguments();
    let report = match Scenario::from_arguments() {
        Scenario::Raw | Scenario::Typed => read_all(kind),
        Scenario::Permission => answer_all(),
        Scenario::Hello => hello(kind),
        _ => Report::unsupported("a floor only reads and answers"),
    };
    report.print();
}

fn read_all(kind: Kind) -> Report {
    let started = Instant::now();
    let mut engine = Engine::start();
    let mut report = Report::default();
    let mut line = Vec::new();
    while report.results == 0 && engine.read(&mut line) {
        report.received += 1;
        if black_box(kind.look_at(&line)) || is_result(&line) {
            report.results += 1;
        }
    }
    report.elapsed = started.elapsed();
    engine.stop();
    report
}

/// Only `split` does not look into the line; the real result does not begin with its type either.
fn is_result(line: &[u8]) -> bool {
    line.starts_with(b"{\"duration_api_ms\"")
}

fn answer_all() -> Report {
    let started = Instant::now();
    let mut engine = Engine::start();
    let mut report = Report::default();
    let mut line = Vec::new();
    while report.results == 0 && engine.read(&mut line) {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(&line) else {
            continue;
        };
        match value["type"].as_str() {
            Some("control_request") => {
                report.calls += 1;
                engine.write(&format!(
                    "{{\"type\":\"control_response\",\"response\":{{\"subtype\":\"success\",\"request_id\":{},\
                     \"response\":{{\"behavior\":\"allow\",\"updatedInput\":{}}}}}}}\n",
                    value["request_id"], value["request"]["input"]
                ));
            }
            Some("result") => report.results += 1,
            _ => {}
        }
    }
    report.elapsed = started.elapsed();
    engine.stop();
    report
}

fn hello(kind: Kind) -> Report {
    let reports: Vec<Report> = (0..bench_probe::HELLOS).map(|_| read_all(kind)).collect();
    bench_probe::median(&reports)
}
