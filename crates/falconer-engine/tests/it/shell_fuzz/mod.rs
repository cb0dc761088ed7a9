//! Attacks on the judgement of shell commands.
//!
//! Whatever the engine would run unasked is run by a real bash in a jail and watched: files that
//! change, connections, processes left over, text from outside the working directory in the
//! output. `cargo xtask fuzz shell` goes on for as long as it is told.

mod chance;
mod confined;
mod corpus;
mod grammar;
mod hidden;
mod hunt;
mod jail;
mod judge;
mod mutation;
mod options;
mod rules;
mod scene;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hunt::{Hunter, Length, hunt};
use jail::Setup;
use judge::Judge;

/// How many minutes a hunt takes, instead of a fixed number of commands.
const MINUTES: &str = "FALCONER_FUZZ_MINUTES";
const SEED: &str = "FALCONER_FUZZ_SEED";

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn length(commands: usize) -> Length {
    let minutes = number(MINUTES).map(|minutes| Duration::from_secs(60 * minutes));
    minutes.map_or(Length::Commands(commands), Length::Time)
}

fn seed() -> u64 {
    number(SEED).unwrap_or(1)
}

/// A jail whose commands get the variables that the engine sets for commands that only read.
fn reading() -> Setup {
    let text = |text: std::ffi::OsString| text.into_string().unwrap();
    let variables = falconer_engine::variables_for_reading([]).into_iter();
    Setup {
        variables: variables
            .map(|(name, value)| (text(name), text(value)))
            .collect(),
        ..Setup::default()
    }
}

#[test]
fn what_is_judged_read_only_only_reads() {
    let bag = hunt(
        &Judge::engine(),
        &reading(),
        |_| false,
        seed(),
        length(2_500),
    );
    println!("{}", bag.report());
    assert!(bag.hits.is_empty(), "{}", bag.report());
    assert!(bag.executed > 200, "{}", bag.report());
}

#[test]
fn no_hostile_command_of_the_corpus_gets_through() {
    let mut hunter = Hunter::new(Judge::engine(), &reading());
    for seed in corpus::hostile() {
        for scene in scene::names() {
            hunter.attempt(scene, &seed.command);
        }
    }
    let bag = hunter.finish();
    println!("{}", bag.report());
    assert!(bag.hits.is_empty(), "{}", bag.report());
}

/// If everything is allowed, each kind of hole is seen.
#[test]
fn the_watchers_see_every_kind_of_hole() {
    let mut jail = jail::Jail::start(&Setup::default());
    let mut seen: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut kinds = BTreeSet::new();
    for seed in corpus::hostile() {
        let (hits, all) = seen.entry(seed.class).or_default();
        // A few of each kind will do; what waits for input or the network costs a second.
        if *all >= 12 {
            continue;
        }
        *all += 1;
        let mut runs = scene::names()
            .into_iter()
            .map(|scene| jail.run(scene, &seed.command));
        let found = runs.find(|effects| !effects.is_empty()).unwrap_or_default();
        *hits += usize::from(!found.is_empty());
        kinds.extend(found.iter().map(jail::Effect::kind));
    }
    for command in ["sleep 9 &", "echo >/dev/tcp/127.0.0.1/7"] {
        kinds.extend(jail.run("plain", command).iter().map(jail::Effect::kind));
    }
    for (class, (hits, all)) in &seen {
        assert!(
            hits * 3 > *all,
            "of the class {class} {hits} of {all} were seen"
        );
    }
    let expected = ["changed", "connected", "left a process", "read outside"];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected);
}
