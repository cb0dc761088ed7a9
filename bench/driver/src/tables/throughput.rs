//! How many messages a second reach the consumer, and in how much memory.

use std::time::Duration;

use super::{Context, header, heading, row};
use crate::figures::{Series, megabytes, ratio, short};
use crate::peer::{Peer, Role};
use crate::run::Job;

/// Init, 200,000 messages, result.
const MIXED_MESSAGES: usize = 200_002;
const BIG_MESSAGES: usize = 502;

/// One row: a peer doing one scenario.
struct Line<'a> {
    peer: &'a Peer,
    scenario: &'static str,
    ms: Series,
    cpu: Series,
    rss: Series,
    received: usize,
    good: usize,
    note: String,
}

impl<'a> Line<'a> {
    fn new(peer: &'a Peer, scenario: &'static str) -> Line<'a> {
        let series = Series::default;
        Line {
            peer,
            scenario,
            ms: series(),
            cpu: series(),
            rss: series(),
            received: 0,
            good: 0,
            note: String::new(),
        }
    }

    fn name(&self) -> String {
        match (self.peer.role, self.scenario) {
            (Role::Ours, "raw") => format!("{} (typed on access)", self.peer.name),
            (Role::Ours, _) => format!("{} (every body decoded)", self.peer.name),
            _ => self.peer.name.clone(),
        }
    }

    fn per_second(&self, messages: usize) -> f64 {
        if self.ms.is_empty() {
            0.0
        } else {
            messages as f64 / self.ms.median()
        }
    }
}

pub(super) fn mixed(context: &Context<'_>) {
    heading(
        "(a) Throughput: 200,002 mixed messages, 90 MB",
        "typed on access >= 4x claude-agents-sdk; every body decoded >= 80 % of floor:peek; peak memory <= 8 MB",
    );
    measure(context, "mixed", MIXED_MESSAGES);
}

pub(super) fn big(context: &Context<'_>) {
    heading(
        "(b) 1 GB in 500 lines of 2 MB",
        "peak memory <= 15 MB, time near floor:split",
    );
    measure(context, "big", BIG_MESSAGES);
}

fn measure(context: &Context<'_>, mode: &str, messages: usize) {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for peer in context.peers {
        lines.push(Line::new(peer, "raw"));
        if peer.role == Role::Ours {
            lines.push(Line::new(peer, "typed"));
        }
    }
    for _ in 0..context.arguments.rounds {
        for line in &mut lines {
            let job = Job {
                limit: Duration::from_secs(90),
                ..Job::new(line.scenario, mode)
            };
            let outcome = context.run(line.peer, job);
            line.received = outcome.count("received");
            line.note = outcome.note();
            if outcome.client.is_some() && !outcome.is_unsupported() {
                line.ms.push(outcome.number("ms"));
                line.cpu.push(outcome.number("cpu_ms"));
                line.rss.push(outcome.number("rss_kb"));
                line.good += usize::from(line.received == messages);
            }
        }
    }
    print_lines(&lines, messages, context.arguments.rounds);
}

fn print_lines(lines: &[Line<'_>], messages: usize, rounds: usize) {
    let speed = |name: &str| {
        lines
            .iter()
            .find(|line| line.peer.name.starts_with(name))
            .map(|line| line.per_second(line.received))
    };
    let (rival, peek, split) = (
        speed("claude-agents-sdk"),
        speed("floor:peek"),
        speed("floor:split"),
    );
    header(&[
        "peer",
        "k msg/s",
        "median ms",
        "min-max ms",
        "client CPU ms",
        "peak MB",
        "received",
        "complete",
        "vs claude-agents-sdk",
        "vs floor:peek",
        "vs floor:split",
        "note",
    ]);
    for line in lines {
        let speed = line.per_second(line.received);
        let mut cells = vec![line.name()];
        if line.ms.is_empty() {
            cells.extend(std::iter::repeat_n("-".to_owned(), 10));
        } else {
            cells.extend([
                short(speed),
                short(line.ms.median()),
                line.ms.range(),
                short(line.cpu.median()),
                megabytes(line.rss.max()),
                format!("{}/{messages}", line.received),
                format!("{}/{rounds}", line.good),
                ratio(speed, rival),
                ratio(speed, peek),
                ratio(speed, split),
            ]);
        }
        cells.push(line.note.clone());
        row(&cells);
    }
}
