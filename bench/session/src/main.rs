//! Measures events and live sessions. `cargo xtask bench session` runs it.
//!
//!   bench-session --cassettes FOLDER [--rounds N] [--only normalise|sessions|lock|isolation]
//!
//! The isolated start of the official CLI is measured if `FALCONER_CLAUDE_PATH` names one.

mod isolation;
mod locks;
mod normalise;
mod sessions;

use std::path::PathBuf;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What is to be measured.
struct Arguments {
    cassettes: PathBuf,
    rounds: usize,
    only: Option<String>,
    /// Only this: many sessions, in a process that did nothing else, with pieces of so many
    /// characters.
    streaming: Option<usize>,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            cassettes: PathBuf::from("fixtures/cassettes"),
            rounds: 5,
            only: None,
            streaming: None,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} wants a value"));
            match word.as_str() {
                "--cassettes" => arguments.cassettes = value()?.into(),
                "--rounds" => {
                    let rounds = value()?;
                    let number = rounds.parse().ok().filter(|number| *number > 0);
                    arguments.rounds = number.ok_or(format!("no number of rounds: {rounds}"))?;
                }
                "--only" => arguments.only = Some(value()?),
                "--streaming" => arguments.streaming = value()?.parse().ok(),
                other => return Err(format!("unknown argument: {other}")),
            }
        }
        Ok(arguments)
    }
}

type Measure = fn(&Arguments);

const TABLES: [(&str, Measure); 4] = [
    ("normalise", normalise::measure),
    ("sessions", sessions::measure),
    ("lock", locks::measure),
    ("isolation", isolation::measure),
];

fn main() {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(2);
        }
    };
    if let Some(piece) = arguments.streaming {
        println!("{}", sessions::in_this_process(piece));
        return;
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("# Session benchmark\n");
    println!("- {cpus} processors, load at the start: {}", load.trim());
    for (name, measure) in TABLES {
        if arguments.only.as_deref().is_none_or(|only| only == name) {
            eprintln!("measuring: {name}");
            measure(&arguments);
        }
    }
}

/// The value in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Prints figures with their goals.
fn facts(title: &str, facts: &[(&str, String, &str)]) {
    println!("\n## {title}\n");
    println!("| what | figure | goal |\n|---|---|---|");
    for (what, figure, goal) in facts {
        println!("| {what} | {figure} | {goal} |");
    }
}
