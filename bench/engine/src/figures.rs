//! Medians, and where they were taken.

/// The value in the middle.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// `middle (least–most)`.
pub(crate) fn spread(values: &[f64], unit: &str) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    format!("{:.1} {unit} ({least:.1}–{most:.1})", median(values))
}

pub(crate) fn surroundings(rounds: usize) -> String {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split_whitespace().take(2).collect();
    format!(
        "- {cpus} processors, load at the start {} (1 and 5 minutes); medians of {rounds} rounds \
         with least and most, both engines in every round; compare within a table only",
        load.join(" and ")
    )
}
