//! Taking and giving back the lock of a session.

use std::time::Instant;

use falconer_session::SessionLocks;
use tempfile::TempDir;

use crate::{Arguments, facts, median};

const LOCKS: usize = 2000;

pub(crate) fn measure(arguments: &Arguments) {
    let place = TempDir::new().expect("a place");
    let locks = SessionLocks::new(place.path().join("locks"));
    let mut medians = Vec::new();
    let mut worst: f64 = 0.0;
    for round in 0..arguments.rounds {
        let one = |number: usize| {
            let name = format!("session-{round}-{number}");
            let begun = Instant::now();
            drop(locks.try_lock(&name).expect("free"));
            begun.elapsed().as_secs_f64() * 1e6
        };
        let mut times: Vec<f64> = (0..LOCKS).map(one).collect();
        medians.push(median(times.clone()));
        times.sort_by(f64::total_cmp);
        worst = worst.max(times[LOCKS * 99 / 100]);
    }
    facts(
        "The lock of a session, taken and given back",
        &[
            (
                "middle",
                format!("**{:.0} µs**", median(medians)),
                "below 1000 µs",
            ),
            ("99 of 100 at most", format!("{worst:.0} µs"), ""),
        ],
    );
}
