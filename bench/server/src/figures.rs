//! Medians, percentiles, and where they were taken.

use std::time::Duration;

use crate::arguments::Arguments;

/// The value in the middle.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// `middle (least–most)`, whole numbers.
pub(crate) fn spread(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    format!("{:.0} ({least:.0}–{most:.0})", median(values))
}

/// The value below which that share of the sorted values is, in milliseconds.
pub(crate) fn percentile(sorted: &[Duration], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let index = (last as f64 * share).round() as usize;
    sorted
        .get(index)
        .map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}

/// `p50 / p99` in milliseconds.
pub(crate) fn times(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    format!(
        "{:.2} / {:.2}",
        percentile(&times, 0.5),
        percentile(&times, 0.99)
    )
}

/// Processor time of this process so far, to the hundredth of a second.
pub(crate) fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program is in parentheses and may hold spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = fields.iter().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

pub(crate) fn surroundings(arguments: &Arguments) -> String {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split_whitespace().take(2).collect();
    format!(
        "- {cpus} processors, load at the start {} (1 and 5 minutes); {} rounds of {} s, medians \
         with least and most; compare within a table only",
        load.join(" and "),
        arguments.rounds,
        arguments.time.as_secs(),
    )
}
