//! What the disk takes for a flush: no durable store is faster than that for one writer.

use std::fs::File;
use std::io::Write as _;
use std::time::Instant;

use crate::arguments::Arguments;
use crate::figures::{spread, times};

pub(crate) fn flushes(arguments: &Arguments) {
    let folder = arguments.folder();
    let mut rates = Vec::new();
    let mut all = Vec::new();
    for round in 0..arguments.rounds {
        let path = folder.path().join(format!("floor-{round}"));
        let mut file = File::create(path).expect("a file");
        let started = Instant::now();
        let mut count = 0;
        while started.elapsed() < arguments.time {
            let before = Instant::now();
            file.write_all(&[7; 4096]).expect("a write");
            file.sync_data().expect("a flush");
            all.push(before.elapsed());
            count += 1;
        }
        rates.push(f64::from(count) / started.elapsed().as_secs_f64());
    }
    println!("\n## A write of 4 KiB and a flush, by themselves\n");
    println!("| flushes/s | p50 / p99 ms |");
    println!("|---|---|");
    println!("| {} | {} |", spread(&rates), times(all));
}
