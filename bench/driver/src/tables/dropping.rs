//! The conversation is dropped in mid-turn: what is left of the engine and of
//! the tool it had started, a second later?

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Context, header, heading, row};
use crate::peer::Peer;
use crate::run::{Job, Started};

pub(super) fn print(context: &Context<'_>) {
    heading(
        "(f) Drop in mid-turn; the engine ignores the end of stdin, its child has a session of its own",
        "both gone after 1 s",
    );
    header(&[
        "peer",
        "engine after 1 s",
        "grandchild after 1 s",
        "engine after 2 s",
        "grandchild after 2 s",
        "note",
    ]);
    for peer in context.sdks() {
        let cells = observe(context, peer).unwrap_or_else(|note| {
            let dash = || "-".to_owned();
            [dash(), dash(), dash(), dash(), note]
        });
        row(&[std::slice::from_ref(&peer.name), &cells].concat());
    }
}

fn observe(context: &Context<'_>, peer: &Peer) -> Result<[String; 5], String> {
    let started = Started::start(context.arguments, peer, Job::new("drop", "tree"));
    let mut started = started.map_err(|error| error.to_string())?;
    let line = started
        .lines
        .recv_timeout(Duration::from_secs(20))
        .unwrap_or_default();
    let engine = started.engine_report();
    let outcome = match (&engine, line.strip_prefix("dropped")) {
        (Some(pids), Some(rest)) => {
            let dropped = Instant::now();
            let after_one = look(pids, dropped + Duration::from_secs(1));
            let after_two = look(pids, dropped + Duration::from_secs(2));
            Ok([
                after_one.0,
                after_one.1,
                after_two.0,
                after_two.1,
                format!("drop took{}", rest.trim_start_matches(" after")),
            ])
        }
        _ => Err(unsupported(&line)),
    };
    started.finish();
    if let Some(pids) = &engine {
        clean_up(pids);
    }
    outcome
}

fn unsupported(line: &str) -> String {
    let value: Value = serde_json::from_str(line).unwrap_or_default();
    value["note"].as_str().map_or_else(
        || "did not get as far as dropping".to_owned(),
        str::to_owned,
    )
}

fn look(pids: &Value, when: Instant) -> (String, String) {
    std::thread::sleep(when.saturating_duration_since(Instant::now()));
    let state = |key: &str| {
        if is_alive(&pids[key]) {
            "alive"
        } else {
            "gone"
        }
        .to_owned()
    };
    (state("engine"), state("grandchild"))
}

/// A process that has ended but was not waited for is gone.
fn is_alive(pid: &Value) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"))
        .unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

/// What a peer leaves behind is ended here, by its id.
fn clean_up(pids: &Value) {
    for key in ["engine", "grandchild"] {
        if is_alive(&pids[key]) {
            let _ = Command::new("kill")
                .args(["-9", &pids[key].to_string()])
                .status();
        }
    }
}
