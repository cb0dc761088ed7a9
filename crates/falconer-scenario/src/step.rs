//! A reply as a sequence of steps, for whoever carries it out: a server or a provider.

use std::time::Duration;

use serde_json::Value;

use super::message::StreamFault;
use super::reply::ApiError;

/// One step of an answer. Exhaustive: whoever plays a scenario must know every step.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Let this time pass.
    Wait(Duration),
    /// Wait for the gate of this name.
    Hold(String),
    /// Send one event of a stream; its name is its `type`.
    Event(Value),
    /// Send the whole message, not streamed; the last step.
    Message(Value),
    /// Fail with an API error; the last step.
    Error(ApiError),
    /// Send bytes that are neither event nor message.
    Garbage(String),
    /// End the connection without the end of the answer; the last step.
    Cut,
    /// Reset the connection before the first byte; the last step.
    Reset,
}

/// The gate a reply waits at for ever, unless a test releases it.
const STALL: &str = "stall";

/// Puts a fault into the steps of a stream.
pub(super) fn broken(mut steps: Vec<Step>, fault: &StreamFault) -> Vec<Step> {
    let (StreamFault::Cut { after }
    | StreamFault::Error { after, .. }
    | StreamFault::Garbage { after, .. }
    | StreamFault::Stall { after }) = fault;
    let rest = steps.split_off(position_after(&steps, *after));
    match fault {
        StreamFault::Cut { .. } => steps.push(Step::Cut),
        StreamFault::Error { error, .. } => steps.push(Step::Event(error.body())),
        StreamFault::Garbage { text, .. } => {
            steps.push(Step::Garbage(text.clone()));
            steps.extend(rest);
        }
        StreamFault::Stall { .. } => {
            steps.push(Step::Hold(STALL.to_owned()));
            steps.extend(rest);
        }
    }
    steps
}

/// Returns the position after the given number of events.
fn position_after(steps: &[Step], events: usize) -> usize {
    let sent =
        |(position, step): (usize, &Step)| matches!(step, Step::Event(_)).then_some(position);
    let mut positions = steps.iter().enumerate().filter_map(sent);
    match events.checked_sub(1) {
        None => steps
            .iter()
            .position(|s| matches!(s, Step::Event(_)))
            .unwrap_or(0),
        Some(last) => positions
            .nth(last)
            .map_or(steps.len(), |position| position + 1),
    }
}
