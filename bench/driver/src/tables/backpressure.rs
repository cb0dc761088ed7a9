//! A consumer that sleeps three seconds while the CLI has 91 MB to write.

use serde_json::Value;

use super::{Context, header, heading, row};
use crate::figures::megabytes;
use crate::run::Job;

/// An answer counts as given during the nap if it came before its end, with a margin.
const NAP_MS: u64 = 2_800;

pub(super) fn print(context: &Context<'_>) {
    heading(
        "(e) Back-pressure: the consumer sleeps 3 s, 91 MB wait, 7 permission requests in the first 3.6 MB",
        "peak memory <= 8 MB, every message afterwards, and all 7 requests answered during the nap",
    );
    header(&[
        "peer",
        "MB before nap",
        "MB after nap",
        "peak MB",
        "received",
        "answered during nap",
        "worst answer ms",
        "note",
    ]);
    for peer in context.sdks() {
        let outcome = context.run(peer, Job::new("slow", "slow"));
        if outcome.is_unsupported() {
            row(&[
                peer.name.as_str(),
                "-",
                "-",
                "-",
                "-",
                "-",
                "-",
                &outcome.note(),
            ]);
            continue;
        }
        let requests = outcome
            .engine
            .as_ref()
            .and_then(|engine| engine["requests"].as_array());
        let requests = requests.map(Vec::as_slice).unwrap_or_default();
        row(&[
            peer.name.clone(),
            megabytes(outcome.number("nap_before_kb")),
            megabytes(outcome.number("nap_after_kb")),
            megabytes(outcome.number("rss_kb")),
            format!("{}/200002", outcome.count("received")),
            format!(
                "{}/7",
                requests
                    .iter()
                    .filter(|request| is_during_nap(request))
                    .count()
            ),
            worst(requests),
            outcome.note(),
        ]);
    }
}

fn is_during_nap(request: &Value) -> bool {
    request["answered_ms"]
        .as_u64()
        .is_some_and(|when| when < NAP_MS)
}

fn worst(requests: &[Value]) -> String {
    let times = requests
        .iter()
        .map(|request| Some(request["answered_ms"].as_u64()? - request["asked_ms"].as_u64()?));
    match times.collect::<Option<Vec<u64>>>() {
        Some(times) => times.iter().max().map_or("-".to_owned(), u64::to_string),
        None => "never".to_owned(),
    }
}
