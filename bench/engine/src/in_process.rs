//! Many sessions of the native engine in one process.
//!
//! Each measurement is a process of its own, started by this program with `part NAME`.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use falconer::{Client, Message, Options};
use falconer_native::NativeEngine;
use falconer_testkit::scenario::{Scenario, any, text, tool_use};
use serde_json::json;
use tempfile::TempDir;

use crate::arguments::Arguments;
use crate::engine::field_kb;
use crate::table::facts;

/// Runs a part and gives the numbers it prints.
fn part(name: &str) -> Vec<f64> {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program)
        .args(["part", name])
        .output()
        .expect("starts");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "part {name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    stdout
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}

pub(crate) fn run(words: &[String]) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        match words.first().map(String::as_str) {
            Some("ten") => ten().await,
            Some("idle") => idle().await,
            Some("tasks") => work().await,
            other => panic!("there is no part {other:?}"),
        }
    });
}

pub(crate) fn ten_at_once() -> (f64, f64) {
    let numbers = part("ten");
    (numbers[0], numbers[1])
}

pub(crate) fn idle_sessions(_: &Arguments) {
    let numbers = part("idle");
    facts(
        "10,000 idle sessions in one process",
        &[
            ("opened and greeted in", format!("{:.1} s", numbers[0])),
            (
                "memory per session",
                format!("{:.1} KB (goal: below 200)", numbers[1]),
            ),
            ("memory of the process", format!("{:.0} MB", numbers[2])),
        ],
    );
}

pub(crate) fn tasks(_: &Arguments) {
    let numbers = part("tasks");
    facts(
        "1,000 sessions, each a task of ten turns with tools",
        &[
            ("sessions a second", format!("{:.0}", numbers[0])),
            ("peak memory", format!("{:.0} MB", numbers[1])),
            ("results that came, of 1,000", format!("{:.0}", numbers[2])),
            (
                "tool results that came, of 9,000",
                format!("{:.0}", numbers[3]),
            ),
        ],
    );
}

/// Options for a session in a place of its own.
fn options(engine: &Arc<NativeEngine>, home: &TempDir, project: &TempDir) -> Options {
    Options::new()
        .shared_engine(engine.clone())
        .cwd(project.path())
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
}

fn places() -> (TempDir, TempDir) {
    (
        TempDir::new().expect("a home"),
        TempDir::new().expect("a project"),
    )
}

fn resident_mb() -> f64 {
    field_kb(std::process::id(), "VmRSS:") / 1024.0
}

async fn ten() {
    let scenario = Scenario::new().on(any()).always().reply(text("Hello."));
    let engine = Arc::new(NativeEngine::scripted(scenario));
    let (home, project) = places();
    let started = Instant::now();
    let runs: Vec<_> = (0..10)
        .map(|_| tokio::spawn(falconer::query("hi", options(&engine, &home, &project))))
        .collect();
    for run in runs {
        let run = run.await.expect("no panic").expect("starts");
        run.outcome().await.expect("succeeds");
    }
    let time = started.elapsed().as_secs_f64() * 1e3;
    println!("{time} {}", field_kb(std::process::id(), "VmHWM:") / 1024.0);
}

async fn idle() {
    const SESSIONS: usize = 10_000;
    let scenario = Scenario::new().on(any()).always().reply(text("Hello."));
    let engine = Arc::new(NativeEngine::scripted(scenario));
    let (home, project) = places();
    let warm = Client::connect(options(&engine, &home, &project))
        .await
        .expect("starts");
    let before = resident_mb();
    let started = Instant::now();
    let mut sessions = Vec::with_capacity(SESSIONS);
    for _ in 0..SESSIONS {
        sessions.push(
            Client::connect(options(&engine, &home, &project))
                .await
                .expect("starts"),
        );
    }
    let time = started.elapsed().as_secs_f64();
    let after = resident_mb();
    println!(
        "{time} {} {after}",
        (after - before) * 1024.0 / SESSIONS as f64
    );
    drop((warm, sessions));
}

/// Nine tool calls, then an answer.
fn task() -> Scenario {
    let calls = [
        tool_use(
            "Bash",
            json!({"command": "echo hello", "description": "greet"}),
        ),
        tool_use("Glob", json!({"pattern": "*.txt"})),
        tool_use("Grep", json!({"pattern": "hello"})),
    ];
    let turns = (0..9).map(|turn| calls[turn % calls.len()].clone());
    turns
        .fold(Scenario::new(), Scenario::turn)
        .turn(text("done"))
}

async fn work() {
    const SESSIONS: usize = 1000;
    // As many at once as a server would let run.
    const AT_ONCE: usize = 100;
    let slots = Arc::new(tokio::sync::Semaphore::new(AT_ONCE));
    let places = Arc::new(places());
    let started = Instant::now();
    let runs: Vec<_> = (0..SESSIONS)
        .map(|_| tokio::spawn(one_task(slots.clone(), places.clone())))
        .collect();
    let (mut results, mut tool_results) = (0, 0);
    for run in runs {
        let (result, tools) = run.await.expect("no panic");
        results += result;
        tool_results += tools;
    }
    let rate = SESSIONS as f64 / started.elapsed().as_secs_f64();
    let peak = field_kb(std::process::id(), "VmHWM:") / 1024.0;
    println!("{rate} {peak} {results} {tool_results}");
}

async fn one_task(
    slots: Arc<tokio::sync::Semaphore>,
    places: Arc<(TempDir, TempDir)>,
) -> (usize, usize) {
    let _slot = slots.acquire().await.expect("open");
    let engine = Arc::new(NativeEngine::scripted(task()));
    let options = options(&engine, &places.0, &places.1)
        .allow_tools(["Bash", "Glob", "Grep"])
        .extra_arg("tools", "Bash,Glob,Grep");
    let mut run = falconer::query("work", options).await.expect("starts");
    let (mut results, mut tools) = (0, 0);
    while let Some(message) = run.next().await {
        match message.expect("a message") {
            Message::Result(result) if !result.is_error => results += 1,
            Message::User(_) => tools += 1,
            _ => {}
        }
    }
    (results, tools)
}
