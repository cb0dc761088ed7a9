//! Measures the store and what is built on it. `cargo xtask bench server` runs it.
//!
//!   bench-server [--rounds N] [--seconds S] [--directory PATH] [--sessions N,N…] [--only NAME]…
//!
//! The directory should be on the disk that is meant: what a durable write costs is mostly what
//! the disk takes to flush, which the table `floor` shows. To add a table: a function that prints
//! it and a line in `TABLES`.

mod api;
mod append;
mod arguments;
mod echo;
mod figures;
mod floor;
mod follower;
mod idle;
mod live;
mod open;
mod other;
mod read;
mod reconnect;
mod role;
mod serve;
mod stamp;

use arguments::Arguments;

fn main() {
    // This program is also the servers it measures.
    let mut words = std::env::args_os().skip(1);
    match (words.next(), words.next()) {
        (Some(role), Some(folder)) if role == "serve" => return serve::run(folder.as_ref()),
        (Some(role), _) if role == "echo" => return echo::run(),
        _ => {}
    }
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(2);
        }
    };
    println!("# Server benchmark\n");
    println!("{}", figures::surroundings(&arguments));
    for (name, measure) in TABLES {
        if arguments.wants(name) {
            eprintln!("measuring: {name}");
            measure(&arguments);
        }
    }
}

const TABLES: &[(&str, fn(&Arguments))] = &[
    ("floor", floor::flushes),
    ("open", open::stores),
    ("append", append::sessions),
    ("read", read::while_writing),
    ("live", live::sessions),
    ("reconnect", reconnect::clients),
    ("idle", idle::sessions),
    ("start", idle::starts),
];
