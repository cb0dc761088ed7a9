//! Lists sessions and says how long it took and how much memory it needed.
//!
//! `cargo run --release --example list_sessions -- CONFIG_DIR [LIMIT]`

use std::time::Instant;

use falconer::sessions::{ListOptions, Sessions};

#[expect(clippy::print_stdout, reason = "an example program")]
fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let sessions = match args.next() {
        Some(config_dir) => Sessions::open(config_dir),
        None => Sessions::from_env()?,
    };
    let limit = args.next().map_or(Ok(0), |limit| limit.parse())?;
    let begin = Instant::now();
    let listed = sessions.list(&ListOptions::new().limit(limit));
    let took = begin.elapsed();
    for info in &listed {
        println!(
            "{}  {}  {}",
            info.session_id, info.last_modified, info.summary
        );
    }
    println!(
        "{} sessions in {took:?}, peak memory {}",
        listed.len(),
        peak_memory()
    );
    Ok(())
}

/// The high-water mark of the resident memory, where the system tells it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or_else(|| "unknown".to_owned(), |peak| peak.trim().to_owned())
}
