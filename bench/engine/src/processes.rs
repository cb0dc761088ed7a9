//! Both engines as processes.

use std::path::Path;
use std::time::{Duration, Instant};

use falconer_testkit::ApiServer;
use falconer_testkit::scenario::{Scenario, any, text};

use crate::arguments::Arguments;
use crate::engine::Engine;
use crate::table::{compare, facts};

/// A model that always says the same, at once.
fn server() -> ApiServer {
    let scenario = Scenario::new().on(any()).always().reply(text("Hello."));
    ApiServer::start(scenario).expect("a port")
}

/// Measures both engines once per round.
fn both(arguments: &Arguments, measure: impl Fn(&Path) -> f64) -> (Vec<f64>, Vec<f64>) {
    let (mut official, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..arguments.rounds {
        if let Some(program) = &arguments.official {
            official.push(measure(program));
        }
        ours.push(measure(&arguments.ours));
    }
    (official, ours)
}

pub(crate) fn size(arguments: &Arguments) {
    let size =
        |path: &Path| std::fs::metadata(path).map_or(f64::NAN, |file| file.len() as f64 / 1e6);
    let official = arguments.official.as_deref().map(size);
    let theirs = official.map_or("–".to_owned(), |size| format!("{size:.0} MB"));
    let ours = format!("{:.1} MB (goal: below 40)", size(&arguments.ours));
    facts(
        "Executable",
        &[("official CLI", theirs), ("falconer-claude", ours)],
    );
}

pub(crate) fn start(arguments: &Arguments) {
    let (official, ours) = both(arguments, |program| {
        let server = server();
        let started = Instant::now();
        let engine = Engine::one_shot(program, &server.url());
        while server.messages().is_empty() {
            std::thread::sleep(Duration::from_micros(50));
        }
        let time = started.elapsed();
        engine.end();
        time.as_secs_f64() * 1e3
    });
    compare(
        "Start to the first request",
        "ms",
        &official,
        &ours,
        "≥ 40 ×",
    );
}

pub(crate) fn idle(arguments: &Arguments) {
    let (official, ours) = both(arguments, |program| {
        let server = server();
        let mut engine = Engine::conversation(program, &server.url());
        engine.hello();
        let memory = engine.resident_mb();
        engine.end();
        memory
    });
    compare("Memory after the hello", "MB", &official, &ours, "≥ 15 ×");
    let (official, ours) = both(arguments, |program| {
        let server = server();
        let mut engine = Engine::conversation(program, &server.url());
        engine.hello();
        engine.say("hi");
        engine.until("result");
        let memory = engine.resident_mb();
        engine.end();
        memory
    });
    compare("Memory after a turn", "MB", &official, &ours, "≥ 15 ×");
    idle_cpu(arguments);
}

/// Processor time while nothing happens for three seconds after a turn.
fn idle_cpu(arguments: &Arguments) {
    let measure = |program: &Path| {
        let server = server();
        let mut engine = Engine::conversation(program, &server.url());
        engine.hello();
        engine.say("hi");
        engine.until("result");
        std::thread::sleep(Duration::from_secs(1));
        let before = engine.cpu_ms();
        std::thread::sleep(Duration::from_secs(3));
        let used = engine.cpu_ms() - before;
        engine.end();
        format!("{used:.0} ms of 3,000")
    };
    let theirs = arguments
        .official
        .as_deref()
        .map_or("–".to_owned(), measure);
    let ours = measure(&arguments.ours);
    facts(
        "Processor time when idle",
        &[("official CLI", theirs), ("falconer-claude", ours)],
    );
}

pub(crate) fn turn(arguments: &Arguments) {
    let (official, ours) = both(arguments, |program| {
        let server = server();
        let mut engine = Engine::conversation(program, &server.url());
        engine.hello();
        let mut times = Vec::new();
        for turn in 0..12 {
            let started = Instant::now();
            engine.say("hi");
            engine.until("result");
            // The first two warm up.
            if turn >= 2 {
                times.push(started.elapsed().as_secs_f64() * 1e3);
            }
        }
        engine.end();
        crate::figures::median(&times)
    });
    compare(
        "A warm turn, message to result",
        "ms",
        &official,
        &ours,
        "≥ 20 ×",
    );
}

pub(crate) fn ten_at_once(arguments: &Arguments) {
    let mut official = Vec::new();
    let mut memory = Vec::new();
    if let Some(program) = &arguments.official {
        for _ in 0..arguments.rounds.min(3) {
            let (time, peak) = ten_processes(program);
            official.push(time);
            memory.push(peak);
        }
    }
    let (ours, our_memory): (Vec<f64>, Vec<f64>) = (0..arguments.rounds)
        .map(|_| crate::in_process::ten_at_once())
        .unzip();
    compare(
        "Ten sessions at once, to the last result (ours in one process)",
        "ms",
        &official,
        &ours,
        "≥ 40 ×",
    );
    compare(
        "Memory of ten sessions",
        "MB",
        &memory,
        &our_memory,
        "below 30 MB",
    );
}

fn ten_processes(program: &Path) -> (f64, f64) {
    let server = server();
    let started = Instant::now();
    let mut engines: Vec<Engine> = (0..10)
        .map(|_| Engine::conversation(program, &server.url()))
        .collect();
    for engine in &mut engines {
        engine.say("hi");
    }
    for engine in &mut engines {
        engine.until("result");
    }
    let time = started.elapsed().as_secs_f64() * 1e3;
    let memory = engines.iter().map(Engine::resident_mb).sum();
    (time, memory)
}
