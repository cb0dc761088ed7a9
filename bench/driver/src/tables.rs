//! The tables, one file each.

mod backpressure;
mod dropping;
mod listing;
mod odd_lines;
mod query_to_result;
mod round_trips;
mod throughput;

use crate::arguments::Arguments;
use crate::peer::{Peer, Role};
use crate::run::{self, Job, Outcome};

pub(crate) struct Context<'a> {
    pub(crate) arguments: &'a Arguments,
    pub(crate) peers: &'a [Peer],
}

/// A table's name on the command line, and what prints it.
type Table = (&'static str, fn(&Context<'_>));

pub(crate) const ALL: [Table; 8] = [
    ("throughput", throughput::mixed),
    ("big", throughput::big),
    ("rt", round_trips::print),
    ("hello", query_to_result::print),
    ("slow", backpressure::print),
    ("drop", dropping::print),
    ("odd", odd_lines::print),
    ("list", listing::print),
];

impl Context<'_> {
    fn run(&self, peer: &Peer, job: Job<'_>) -> Outcome {
        run::run(self.arguments, peer, job)
    }

    /// Everybody but the floors.
    fn sdks(&self) -> impl Iterator<Item = &Peer> {
        self.peers.iter().filter(|peer| peer.role != Role::Floor)
    }
}

fn heading(title: &str, goal: &str) {
    println!("\n## {title}\n\nGoal: {goal}\n");
}

/// A row of a Markdown table.
fn row<T: AsRef<str>>(cells: &[T]) {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    println!("| {} |", cells.join(" | "));
}

fn header(cells: &[&str]) {
    row(cells);
    println!("|{}", "---|".repeat(cells.len()));
}
