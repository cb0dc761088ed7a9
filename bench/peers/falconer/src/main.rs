//! Falconer through its public API.
//!
//! One function per scenario in `sdk.rs`, which is all that touches the API.

mod sdk;

use bench_probe::{Report, Scenario};

/// Which control request is answered 5,000 times.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RoundTrip {
    Permission,
    Hook,
    Mcp,
}

#[tokio::main]
async fn main() {
    let report: Report = match Scenario::from_arguments() {
        Scenario::Raw => sdk::run_mixed_raw().await,
        Scenario::Typed => sdk::run_mixed_typed().await,
        Scenario::Permission => sdk::run_rt(RoundTrip::Permission).await,
        Scenario::Hook => sdk::run_rt(RoundTrip::Hook).await,
        Scenario::Mcp => sdk::run_rt(RoundTrip::Mcp).await,
        Scenario::Hello => sdk::run_hello().await,
        Scenario::Slow => sdk::run_slow().await,
        Scenario::Odd => sdk::run_odd().await,
        // Prints its own line: what matters happens after it.
        Scenario::Drop => return sdk::run_drop().await,
    };
    report.print();
}
