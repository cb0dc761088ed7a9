//! The last lines: how it ended, how long it took, what it cost.

use falconer::protocol::Number;
use falconer::protocol::message::ResultMessage;
use falconer::protocol::usage::Usage;
use owo_colors::OwoColorize;

use super::plain::clean;

pub(super) fn lines(result: &ResultMessage) -> Vec<String> {
    let mut lines = Vec::new();
    if result.is_error {
        let text = clean(&result.text());
        lines.push(format!("✗ {text}").red().to_string());
    }
    let mark = match result.is_error {
        true => "failed".red().to_string(),
        false => "done".green().to_string(),
    };
    lines.push(format!("{mark} {}", facts(result).dimmed()));
    lines
}

fn facts(result: &ResultMessage) -> String {
    let mut facts = Vec::new();
    if let Some(duration) = &result.duration_ms {
        facts.push(format!("in {:.1} s", duration.as_f64() / 1_000.0));
    }
    if let Some(turns) = result.num_turns {
        facts.push(format!("{turns} turns"));
    }
    if let Some(usage) = &result.usage {
        facts.push(tokens(usage));
    }
    let cost = result.total_cost_usd.as_ref().map_or(0.0, Number::as_f64);
    facts.push(format!("${cost:.4}"));
    facts.join(" · ")
}

fn tokens(usage: &Usage) -> String {
    let read = [
        usage.input_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
    ];
    let read: u64 = read.into_iter().flatten().sum();
    let written = usage.output_tokens.unwrap_or(0);
    format!("{read} tokens in, {written} out")
}
