//! Measures `falconer-claude` beside the official CLI on the same scripted server, and the
//! native engine in this process. `cargo xtask bench engine` runs it.
//!
//!   bench-engine --ours PATH [--official PATH] [--rounds N] [--only NAME]…
//!
//! Both engines run in every round, so that a neighbour's load falls on both.

mod arguments;
mod engine;
mod figures;
mod in_process;
mod processes;
mod search;
mod table;

use arguments::{Arguments, Wanted};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(Wanted::Tables(arguments)) => arguments,
        // A part that runs in a process of its own, so that its memory is its own.
        Ok(Wanted::Part(part)) => return in_process::run(&part),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(2);
        }
    };
    println!("# Engine benchmark\n");
    println!("{}", figures::surroundings(arguments.rounds));
    for (name, measure) in TABLES {
        if arguments.wants(name) {
            eprintln!("measuring: {name}");
            measure(&arguments);
        }
    }
}

const TABLES: &[(&str, fn(&Arguments))] = &[
    ("size", processes::size),
    ("start", processes::start),
    ("idle", processes::idle),
    ("turn", processes::turn),
    ("ten", processes::ten_at_once),
    ("sessions", in_process::idle_sessions),
    ("tasks", in_process::tasks),
    ("search", search::search),
];
