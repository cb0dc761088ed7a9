//! One odd line between two assistant messages: does the conversation live on?

use std::time::Duration;

use super::{Context, header, heading, row};
use crate::peer::Peer;
use crate::run::{Job, Outcome};

/// Things the CLI or the API really sends today, things they may send tomorrow, and accidents.
const ODDITIES: [&str; 20] = [
    "unknown_type",
    "unknown_system",
    "system_status",
    "unknown_block",
    "server_tool",
    "redacted",
    "unknown_event",
    "unknown_delta",
    "rate_limit",
    "tool_progress",
    "keep_alive",
    "user_string",
    "user_image",
    "blank",
    "garbage",
    "bad_utf8",
    "lone_surrogate",
    "cancel",
    "unknown_result",
    "unknown_control",
];

pub(super) fn print(context: &Context<'_>) {
    heading(
        "(g) Odd lines",
        "20 of 20 harmless: the result arrives, without an error, and a request is answered",
    );
    let peers: Vec<&Peer> = context.sdks().collect();
    let mut head = vec!["oddity"];
    head.extend(peers.iter().map(|peer| peer.name.as_str()));
    header(&head);
    let mut harmless = vec![0_usize; peers.len()];
    for oddity in ODDITIES {
        let mut cells = vec![oddity.to_owned()];
        for (peer, harmless) in peers.iter().zip(&mut harmless) {
            let job = Job {
                odd: oddity,
                limit: Duration::from_secs(30),
                ..Job::new("odd", "odd")
            };
            let verdict = verdict(&context.run(peer, job));
            *harmless += usize::from(verdict == "ok" || verdict == "ok, answered");
            cells.push(verdict);
        }
        row(&cells);
    }
    let mut cells = vec!["**harmless**".to_owned()];
    cells.extend(harmless.iter().map(|count| format!("**{count}/20**")));
    row(&cells);
}

fn verdict(outcome: &Outcome) -> String {
    if outcome.is_unsupported() {
        return "-".to_owned();
    }
    if outcome.count("results") == 0 || outcome.count("assistants") < 2 {
        let hung = outcome.trouble.starts_with("HANG");
        return if hung {
            "HANG".to_owned()
        } else {
            "FATAL".to_owned()
        };
    }
    let mut verdict = match outcome.count("errors") {
        0 => "ok".to_owned(),
        _ => "error, goes on".to_owned(),
    };
    match outcome
        .engine
        .as_ref()
        .and_then(|engine| engine["answered"].as_bool())
    {
        Some(true) => verdict.push_str(", answered"),
        Some(false) => verdict.push_str(", not answered"),
        None => {}
    }
    verdict
}
