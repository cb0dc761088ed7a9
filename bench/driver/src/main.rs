//! Runs the SDKs side by side, rounds interleaved, and prints Markdown tables.
//!
//! All peers of a table run in every round, so that a neighbour's load falls on
//! all of them alike. A peer that is not there is named and left out.

mod arguments;
mod figures;
mod peer;
mod run;
mod tables;

use arguments::Arguments;
use peer::Peer;

fn main() {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(2);
        }
    };
    let (peers, missing) = Peer::find_all(&arguments);
    println!("# SDK benchmark\n");
    println!("{}", surroundings(arguments.rounds));
    for line in &missing {
        println!("- left out: {line}");
    }
    let context = tables::Context {
        arguments: &arguments,
        peers: &peers,
    };
    for (name, print) in tables::ALL {
        if arguments.wants(name) {
            eprintln!("measuring: {name}");
            print(&context);
        }
    }
}

fn surroundings(rounds: usize) -> String {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load
        .split_whitespace()
        .take(2)
        .collect::<Vec<_>>()
        .join(" and ");
    format!(
        "- {cpus} processors, load at the start {load} (1 and 5 minutes); medians of {rounds} rounds, interleaved; \
         compare within a table only\n- processor time and memory are the client's own, without the CLI it starts"
    )
}
