//! What every measured program reports, the same for all of them.
//!
//! A peer runs one scenario and prints one line of JSON. Processor time and
//! peak memory are its own, as the kernel counts them, so that the fake CLI it
//! starts is not in the figures.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// What a peer is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// Read everything; payloads only as far as the API's default goes.
    Raw,
    /// Read everything, every body decoded to a type.
    Typed,
    Permission,
    Hook,
    Mcp,
    /// Query to result, many times.
    Hello,
    /// Sleep after the first message, then read the rest.
    Slow,
    /// Drop the conversation after the first message.
    Drop,
    /// One odd line.
    Odd,
}

impl Scenario {
    /// From the program's first argument.
    pub fn from_arguments() -> Scenario {
        match std::env::args().nth(1).as_deref() {
            Some("typed") => Scenario::Typed,
            Some("perm") => Scenario::Permission,
            Some("hook") => Scenario::Hook,
            Some("mcp") => Scenario::Mcp,
            Some("hello") => Scenario::Hello,
            Some("slow") => Scenario::Slow,
            Some("drop") => Scenario::Drop,
            Some("odd") => Scenario::Odd,
            Some("raw") => Scenario::Raw,
            other => panic!("`{other:?}` is not a scenario"),
        }
    }
}

/// How often [`Scenario::Hello`] asks.
pub const HELLOS: usize = 30;
/// How long [`Scenario::Slow`] sleeps.
pub const NAP: Duration = Duration::from_secs(3);
/// How long [`Scenario::Drop`] stays alive after dropping, for clean-up in the background.
pub const AFTERWARDS: Duration = Duration::from_millis(2_500);

/// The executable of the fake CLI.
pub fn cli() -> String {
    std::env::var("BENCH_CLI").expect("BENCH_CLI names the fake CLI")
}

/// What a peer saw.
#[derive(Debug, Default)]
pub struct Report {
    pub received: usize,
    pub assistants: usize,
    pub results: usize,
    pub errors: usize,
    /// How often a callback or tool of ours was called.
    pub calls: usize,
    pub elapsed: Duration,
    /// Memory in use before and after the nap.
    pub nap_kb: Option<(u64, u64)>,
    pub note: String,
}

impl Report {
    /// A scenario the peer's public API has no way to do.
    pub fn unsupported(why: &str) -> Report {
        Report {
            note: format!("unsupported: {why}"),
            ..Report::default()
        }
    }

    /// Prints the line the driver reads.
    pub fn print(&self) {
        let mut line = String::new();
        let (before, after) = self.nap_kb.unwrap_or_default();
        let note: String = self
            .note
            .chars()
            .filter(|letter| !letter.is_control())
            .take(120)
            .collect();
        let note = note.replace('\\', "/").replace('"', "'");
        let _ = write!(
            line,
            "{{\"received\":{},\"assistants\":{},\"results\":{},\"errors\":{},\"calls\":{},\"ms\":{:.3},\"cpu_ms\":{},\
             \"rss_kb\":{},\"nap_before_kb\":{before},\"nap_after_kb\":{after},\"note\":\"{note}\"}}",
            self.received,
            self.assistants,
            self.results,
            self.errors,
            self.calls,
            self.elapsed.as_secs_f64() * 1_000.0,
            cpu_ms(),
            peak_kb(),
        );
        println!("{line}");
    }
}

/// Makes one report of many: how many had a result, and the median duration.
pub fn median(reports: &[Report]) -> Report {
    let mut times: Vec<Duration> = reports.iter().map(|report| report.elapsed).collect();
    times.sort_unstable();
    Report {
        received: reports.len(),
        results: reports.iter().map(|report| report.results).sum(),
        elapsed: times[times.len() / 2],
        ..Report::default()
    }
}

/// Tells the driver that the conversation was dropped, and stays alive a while.
pub fn dropped(started: Instant) {
    println!("dropped after {} ms", started.elapsed().as_millis());
    std::thread::sleep(AFTERWARDS);
}

/// Memory in use now.
pub fn resident_kb() -> u64 {
    status_kb("VmRSS:")
}

/// The most memory ever in use.
pub fn peak_kb() -> u64 {
    status_kb("VmHWM:")
}

fn status_kb(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|value| value.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// Processor time of all our threads, in steps of ten milliseconds.
fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(") ")
        .next()
        .unwrap_or_default()
        .split(' ')
        .collect();
    let ticks = |index: usize| {
        fields
            .get(index)
            .and_then(|value| value.parse::<u64>().ok())
            .unwrap_or(0)
    };
    // utime and stime are the 14th and 15th field of all, the 12th and 13th after the name.
    (ticks(11) + ticks(12)) * 10
}
