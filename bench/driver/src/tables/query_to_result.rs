//! One short turn: from the call to the result.

use super::{Context, header, heading, row};
use crate::figures::{Series, ratio, short};
use crate::peer::Role;
use crate::run::Job;

/// How many queries a peer makes one after the other.
const HELLOS: usize = 30;
/// Why one peer can be faster than the floor.
const NO_HANDSHAKE: &str = "prompt among the arguments, no handshake";

pub(super) fn print(context: &Context<'_>) {
    heading(
        "(d) Query to result, medians of 30 in one process",
        "<= 1.15x floor",
    );
    let is_in = |role: Role, name: &str| role != Role::Floor || name == "floor:value";
    let peers = context
        .peers
        .iter()
        .filter(|peer| is_in(peer.role, &peer.name));
    let mut lines: Vec<_> = peers
        .map(|peer| (peer, Series::default(), String::new()))
        .collect();
    for _ in 0..context.arguments.rounds {
        for (peer, series, note) in &mut lines {
            let outcome = context.run(peer, Job::new("hello", "hello"));
            *note = outcome.note();
            if outcome.count("results") == HELLOS {
                series.push(outcome.number("ms"));
            }
        }
    }
    let floor = lines
        .iter()
        .find(|(peer, ..)| peer.role == Role::Floor)
        .map(|(_, series, _)| series.median());
    header(&["peer", "median ms", "min-max ms", "vs floor", "note"]);
    for (peer, series, note) in &lines {
        let note = if peer.name.starts_with("claude-wrapper") {
            NO_HANDSHAKE
        } else {
            note.as_str()
        };
        let (median, ratio) = if series.is_empty() {
            ("-".to_owned(), "-".to_owned())
        } else {
            (short(series.median()), ratio(series.median(), floor))
        };
        row(&[
            peer.name.clone(),
            median,
            series.range(),
            ratio,
            note.to_owned(),
        ]);
    }
}
