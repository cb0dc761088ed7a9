//! A thousand scripted sessions of the native engine at once, each streaming its events.

use std::sync::Arc;
use std::time::Instant;

use falconer::Options;
use falconer_event::{Body, Outcome, Source};
use falconer_native::NativeEngine;
use falconer_session::{Session, SessionLocks, SessionSpec};
use falconer_testkit::scenario::{Scenario, any, text};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Barrier;

use crate::{Arguments, facts};

const SESSIONS: usize = 1000;
/// Prompts of each session.
const TURNS: usize = 5;
/// Characters of each answer.
const ANSWER: usize = 2000;
/// Characters of each piece in which it is streamed: the same answers, ten times the events.
const PIECES: [usize; 2] = [20, 2];

/// What one session saw.
#[derive(Default)]
struct Seen {
    events: usize,
    pieces: usize,
    /// Numbers without gaps, pieces without gaps, every turn, a good end.
    is_whole: bool,
}

fn spec(engine: &Arc<NativeEngine>, place: &TempDir) -> SessionSpec {
    let options = Options::new()
        .shared_engine(engine.clone())
        .cwd(place.path())
        .env_clear()
        .env("HOME", place.path())
        .env("PATH", "/usr/bin:/bin")
        .include_partial_messages();
    SessionSpec::new(SessionLocks::new(place.path().join("locks"))).options(options)
}

async fn one(engine: Arc<NativeEngine>, place: Arc<TempDir>, ready: Arc<Barrier>) -> Seen {
    let (session, mut events) = Session::start(spec(&engine, &place)).await.expect("starts");
    session.info().await.expect("is there");
    ready.wait().await;
    for turn in 0..TURNS {
        session
            .send(format!("prompt {turn}"))
            .await
            .expect("accepted");
    }
    // It ends when the last handle is gone.
    let mut session = Some(session);
    let (mut seen, mut last, mut streamed, mut turns) = (Seen::default(), 0, 0, 0);
    let mut is_whole = true;
    while let Some(event) = events.next().await {
        match &event.body {
            Body::ItemDelta { offset, text, .. } => {
                seen.pieces += 1;
                is_whole &= event.seq == last && *offset == streamed;
                streamed += text.chars().count() as u64;
                continue;
            }
            // What the user says may come in between.
            Body::ItemStarted(_) if event.source == Source::Agent => streamed = 0,
            Body::TurnCompleted(turn) => {
                turns += usize::from(turn.text.len() == ANSWER);
                session = session.filter(|_| turns < TURNS);
            }
            Body::RunCompleted(end) => is_whole &= end.outcome == Outcome::Ok,
            _ => {}
        }
        is_whole &= event.seq == last + 1;
        (last, seen.events) = (event.seq, seen.events + 1);
    }
    seen.is_whole = is_whole && turns == TURNS;
    seen
}

/// Runs them all, and says how it went, as JSON.
pub(crate) fn in_this_process(piece: usize) -> Value {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (seconds, kb, seen) = runtime.block_on(all(piece));
    let sum = |of: fn(&Seen) -> usize| seen.iter().map(of).sum::<usize>();
    json!({"seconds": seconds, "kb": kb, "whole": sum(|seen| usize::from(seen.is_whole)),
        "events": sum(|seen| seen.events), "pieces": sum(|seen| seen.pieces)})
}

async fn all(piece: usize) -> (f64, f64, Vec<Seen>) {
    let answer = "lorem ipsum dolor sit".repeat(ANSWER / 21 + 1)[..ANSWER].to_owned();
    let reply = text(answer).delta_chars(piece);
    let scenario = Scenario::new().on(any()).always().reply(reply);
    let engine = Arc::new(NativeEngine::scripted(scenario));
    let place = Arc::new(TempDir::new().expect("a place"));
    let before = bench_probe::resident_kb() as f64;
    let ready = Arc::new(Barrier::new(SESSIONS + 1));
    let runs: Vec<_> = (0..SESSIONS)
        .map(|_| tokio::spawn(one(engine.clone(), place.clone(), ready.clone())))
        .collect();
    ready.wait().await;
    let begun = Instant::now();
    let mut seen = Vec::new();
    for run in runs {
        seen.push(run.await.expect("no panic"));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let kb = (bench_probe::peak_kb() as f64 - before) / SESSIONS as f64;
    (seconds, kb, seen)
}

/// In a process that did nothing before, so that its peak is that of the sessions.
fn in_a_process(piece: usize) -> Value {
    let program = std::env::current_exe().expect("this program");
    let output = std::process::Command::new(program)
        .args(["--streaming", &piece.to_string()])
        .stderr(std::process::Stdio::inherit())
        .output()
        .expect("the measurement runs");
    serde_json::from_slice(&output.stdout).expect("the measurement says how it went")
}

pub(crate) fn measure(_: &Arguments) {
    let mut peaks = Vec::new();
    for piece in PIECES {
        let run = in_a_process(piece);
        let number = |name: &str| run[name].as_f64().unwrap_or(f64::NAN);
        let events = number("events") + number("pieces");
        peaks.push(number("kb"));
        facts(
            &format!(
                "{SESSIONS} native sessions at once, {TURNS} prompts each, pieces of {piece} characters"
            ),
            &[
                (
                    "sessions without a gap or a loss",
                    format!("**{}**", number("whole")),
                    "1000",
                ),
                (
                    "events",
                    format!("{events} (of which pieces {})", number("pieces")),
                    "",
                ),
                (
                    "events a second",
                    format!("{:.0}", events / number("seconds")),
                    "",
                ),
                (
                    "from the first prompt to the last end",
                    format!("{:.1} s", number("seconds")),
                    "",
                ),
                (
                    "peak memory per session, engine included",
                    format!("**{:.0} KB**", number("kb")),
                    "below 500",
                ),
            ],
        );
    }
    let growth = peaks[1] / peaks[0];
    facts(
        "Memory of ten times as many events",
        &[("times as much", format!("**{growth:.2}**"), "about 1")],
    );
}
