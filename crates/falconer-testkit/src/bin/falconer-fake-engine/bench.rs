//! Many messages, long messages, many questions: for measuring a host.

use std::fs::File;
use std::io::Write;
use std::time::Instant;

use falconer_testkit::FakeEngine;
use serde_json::{Value, json};

use crate::Stop;
use crate::play::Play;

/// Of so many messages of a burst ...
const CYCLE: usize = 25;
/// ... so many are assistant messages ...
const ASSISTANT: usize = 3;
/// ... and so many are tool results; the rest are stream events.
const TOOL_RESULTS: usize = 2;

/// A message filled up with text to about so many bytes.
pub(crate) fn padded(mut message: impl FnMut(&str) -> Value, bytes: usize) -> Value {
    let empty = message("").to_string().len() + 1;
    message(&"x".repeat(bytes.saturating_sub(empty)))
}

/// Writes a mix of messages as fast as the host reads them.
pub(crate) fn burst(play: &mut Play, messages: usize, bytes: usize) -> Result<(), Stop> {
    let event = padded(|text| play.messages.text_delta(text), bytes);
    let assistant = padded(|text| play.messages.assistant(text), bytes);
    let result = padded(|text| play.messages.tool_result(text), bytes);
    let [event, assistant, result] = [event, assistant, result].map(|m| format!("{m}\n"));
    for number in 0..messages {
        let line = match number % CYCLE {
            place if place < ASSISTANT => &assistant,
            place if place < ASSISTANT + TOOL_RESULTS => &result,
            _ => &event,
        };
        play.wire.write_bytes(line.as_bytes())?;
    }
    Ok(play.wire.flush()?)
}

/// Writes long messages as fast as the host reads them.
pub(crate) fn big_lines(play: &mut Play, count: usize, bytes: usize) -> Result<(), Stop> {
    let message = padded(|text| play.messages.assistant(text), bytes);
    let line = format!("{message}\n");
    for _ in 0..count {
        play.wire.write_bytes(line.as_bytes())?;
    }
    Ok(play.wire.flush()?)
}

/// Asks again and again; reports how long the answers took.
pub(crate) fn round_trips(play: &mut Play, request: &Value, count: usize) -> Result<(), Stop> {
    let mut request = request.clone();
    let mut times = Vec::with_capacity(count);
    let mut errors = 0;
    for number in 0..count {
        if !request["tool_use_id"].is_null() {
            request["tool_use_id"] = format!("toolu_bench_{number:06}").into();
        }
        let start = Instant::now();
        let answer = play.ask(&request)?;
        times.push(start.elapsed().as_nanos());
        errors += usize::from(answer["subtype"] != "success");
    }
    times.sort_unstable();
    report(&json!({
        "subtype": request["subtype"], "count": count, "errors": errors,
        "p50_us": percentile(&times, 50), "p99_us": percentile(&times, 99),
        "max_us": percentile(&times, 100),
    }))
}

/// Microseconds, with one decimal.
fn percentile(sorted: &[u128], percent: usize) -> f64 {
    let place = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    let nanos = sorted.get(place).copied().unwrap_or_default();
    (nanos / 100) as f64 / 10.0
}

fn report(measured: &Value) -> Result<(), Stop> {
    let Some(path) = std::env::var_os(FakeEngine::REPORT) else {
        return Ok(());
    };
    let mut file = File::options().append(true).create(true).open(path)?;
    Ok(file.write_all(format!("{measured}\n").as_bytes())?)
}
