//! 5,000 control requests in sequence, timed by the fake CLI.

use std::time::Duration;

use super::{Context, header, heading, row};
use crate::figures::{Series, short};
use crate::peer::{Peer, Pinning, Role};
use crate::run::{Job, Outcome};

const COUNT: usize = 5_000;

struct Line<'a> {
    peer: &'a Peer,
    /// p50 and p99, pinned and free.
    pinned: (Series, Series),
    free: (Series, Series),
    verdict: String,
}

pub(super) fn print(context: &Context<'_>) {
    let tables = [
        (
            "(c) Permission round trip",
            "perm",
            "rt_perm",
            "pinned p50/p99 <= 16/35 us",
        ),
        (
            "(c) Hook round trip",
            "hook",
            "rt_hook",
            "pinned p50 <= 18 us",
        ),
        (
            "(c) MCP tool round trip",
            "mcp",
            "rt_mcp",
            "pinned p50 <= 18 us",
        ),
    ];
    for (title, scenario, mode, goal) in tables {
        heading(title, goal);
        measure(context, scenario, mode);
    }
}

fn measure(context: &Context<'_>, scenario: &str, mode: &str) {
    let is_in = |peer: &&Peer| {
        peer.role != Role::Floor || (peer.name == "floor:value" && scenario == "perm")
    };
    let mut lines: Vec<Line<'_>> = context.peers.iter().filter(is_in).map(Line::new).collect();
    for _ in 0..context.arguments.rounds {
        for line in &mut lines {
            for pinning in [Pinning::OneCore, Pinning::Free] {
                if line.is_hopeless() {
                    continue;
                }
                let job = Job {
                    pinning,
                    limit: Duration::from_secs(60),
                    ..Job::new(scenario, mode)
                };
                line.take(&context.run(line.peer, job), pinning);
            }
        }
    }
    header(&[
        "peer",
        "pinned p50 us",
        "p50 min-max",
        "pinned p99 us",
        "free p50 us",
        "free p99 us",
        "verdict",
    ]);
    for line in &lines {
        row(&[
            line.peer.name.clone(),
            shown(&line.pinned.0),
            line.pinned.0.range(),
            shown(&line.pinned.1),
            shown(&line.free.0),
            shown(&line.free.1),
            line.verdict.clone(),
        ]);
    }
}

impl<'a> Line<'a> {
    fn new(peer: &'a Peer) -> Line<'a> {
        Line {
            peer,
            pinned: Default::default(),
            free: Default::default(),
            verdict: String::new(),
        }
    }

    /// A peer that hangs or cannot do it would only cost time in the next round.
    fn is_hopeless(&self) -> bool {
        self.verdict.starts_with("HANG") || self.verdict.starts_with("unsupported")
    }

    fn take(&mut self, outcome: &Outcome, pinning: Pinning) {
        self.verdict = verdict(outcome);
        let Some(engine) = &outcome.engine else {
            return;
        };
        let series = match pinning {
            Pinning::OneCore => &mut self.pinned,
            Pinning::Free => &mut self.free,
        };
        series.0.push(engine["p50_us"].as_f64().unwrap_or(0.0));
        series.1.push(engine["p99_us"].as_f64().unwrap_or(0.0));
    }
}

fn verdict(outcome: &Outcome) -> String {
    let engine = |key: &str| {
        outcome
            .engine
            .as_ref()
            .and_then(|report| report[key].as_u64())
            .unwrap_or(0) as usize
    };
    let note = outcome.note();
    if !note.is_empty() && engine("answered") < COUNT {
        return note;
    }
    if engine("errors") > 0 {
        return format!("{} of {COUNT} answered with an error", engine("errors"));
    }
    if engine("answered") < COUNT {
        return format!("only {} of {COUNT} answered", engine("answered"));
    }
    if outcome.count("calls") < COUNT {
        return format!(
            "answered without calling the callback ({} calls)",
            outcome.count("calls")
        );
    }
    "ok".to_owned()
}

fn shown(series: &Series) -> String {
    if series.is_empty() {
        "-".to_owned()
    } else {
        short(series.median())
    }
}
