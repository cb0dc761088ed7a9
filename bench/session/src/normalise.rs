//! Turning messages into events, beside parsing the lines they came from.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use falconer_event::{End, Ledger, Normaliser, Run, RunId, Sequence};
use falconer_protocol::Message;
use serde_json::Value;

use crate::{Arguments, facts, median};

/// The recorded sessions, line by line.
fn recorded(folder: &Path) -> Vec<Vec<String>> {
    let files = std::fs::read_dir(folder).expect("the recorded sessions");
    let paths = files.map(|file| file.expect("a file").path());
    let sessions = paths.filter(|path| path.extension().is_some_and(|it| it == "jsonl"));
    sessions.map(|path| lines(&path)).collect()
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a recorded session");
    let entries = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("an entry"));
    let out = entries.filter(|entry| entry["dir"] == "out" && entry["line"].is_object());
    out.map(|entry| entry["line"].to_string()).collect()
}

/// Seconds to parse all lines, and to make numbered events of them.
fn round(sessions: &[Vec<String>]) -> (f64, f64, usize) {
    let begun = Instant::now();
    let parse = |line: &String| serde_json::from_str::<Message>(line).expect("a message");
    let parsed: Vec<Vec<Message>> = sessions
        .iter()
        .map(|lines| lines.iter().map(parse).collect())
        .collect();
    let parsing = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let (mut events, run) = (0, RunId::from("run"));
    for messages in &parsed {
        let mut normaliser = Normaliser::new(Run::default());
        let mut sequence = Sequence::new("session");
        let drafts = messages
            .iter()
            .flat_map(|message| normaliser.message(message));
        let mut drafts: Vec<_> = drafts.collect();
        drafts.extend(normaliser.finish());
        let mut ledger = Ledger::default();
        drafts.iter().for_each(|draft| ledger.observe(draft));
        drafts.extend(ledger.end(End::default()));
        for draft in drafts {
            black_box(sequence.stamp(&run, "2026-01-01T00:00:00Z", draft));
            events += 1;
        }
    }
    (parsing, begun.elapsed().as_secs_f64(), events)
}

pub(crate) fn measure(arguments: &Arguments) {
    let sessions = recorded(&arguments.cassettes);
    let lines: usize = sessions.iter().map(Vec::len).sum();
    round(&sessions);
    let rounds: Vec<_> = (0..arguments.rounds.max(5) * 4)
        .map(|_| round(&sessions))
        .collect();
    let parsing = median(rounds.iter().map(|round| round.0).collect());
    let making = median(rounds.iter().map(|round| round.1).collect());
    let each = |seconds: f64| format!("{:.2} µs", seconds * 1e6 / lines as f64);
    facts(
        &format!("{lines} recorded lines of {} sessions", sessions.len()),
        &[
            ("parsing a line", each(parsing), ""),
            ("making numbered events of it", each(making), ""),
            ("ratio", format!("**{:.2}**", making / parsing), "below 1"),
            ("events", rounds[0].2.to_string(), ""),
        ],
    );
}
