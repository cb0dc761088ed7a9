//! One comparison as a Markdown table.

use crate::figures::{median, spread};

/// Prints both engines and their ratio; more is better for us.
pub(crate) fn compare(title: &str, unit: &str, official: &[f64], ours: &[f64], goal: &str) {
    println!("\n## {title}\n");
    println!("| official CLI | falconer-claude | ratio | goal |\n|---|---|---|---|");
    let ratio = match official.is_empty() {
        true => "official CLI not at hand".to_owned(),
        false => format!("**{:.1} ×**", median(official) / median(ours)),
    };
    let theirs = match official.is_empty() {
        true => "–".to_owned(),
        false => spread(official, unit),
    };
    println!("| {theirs} | {} | {ratio} | {goal} |", spread(ours, unit));
}

/// Prints figures that have no counterpart.
pub(crate) fn facts(title: &str, facts: &[(&str, String)]) {
    println!("\n## {title}\n");
    println!("| what | figure |\n|---|---|");
    for (what, figure) in facts {
        println!("| {what} | {figure} |");
    }
}
