//! The totals of a session, kept in its transcript so that a resumed session goes on counting.

use falconer_protocol::{Object, SessionId};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::session_entry::object;

/// The totals of a session.
///
/// Reading takes what is there; a field of another type counts as nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CostState {
    /// In US dollars.
    #[serde(rename = "totalCostUSD", deserialize_with = "dollars")]
    pub total_cost_usd: f64,
    /// Time that requests to the model took.
    #[serde(rename = "totalAPIDuration", deserialize_with = "count")]
    pub api_duration_ms: u64,
    /// The same without requests that were tried again.
    #[serde(rename = "totalAPIDurationWithoutRetries", deserialize_with = "count")]
    pub api_duration_without_retries_ms: u64,
    /// Time that tools took.
    #[serde(rename = "totalToolDuration", deserialize_with = "count")]
    pub tool_duration_ms: u64,
    /// Lines that tools added to files.
    #[serde(rename = "totalLinesAdded", deserialize_with = "count")]
    pub lines_added: u64,
    /// Lines that tools removed from files.
    #[serde(rename = "totalLinesRemoved", deserialize_with = "count")]
    pub lines_removed: u64,
    /// Time that the session has run, over all its runs.
    #[serde(rename = "totalDuration", deserialize_with = "count")]
    pub duration_ms: u64,
    /// The start of this run, in milliseconds since 1970.
    #[serde(rename = "startTime", deserialize_with = "count")]
    pub start_time_ms: u64,
    /// Tokens and cost per model, with the wire's field names.
    #[serde(deserialize_with = "usage")]
    pub model_usage: Object,
    /// A model was used whose price is not known.
    #[serde(deserialize_with = "flag")]
    pub has_unknown_model_cost: bool,
}

/// The fields of the entry before the totals.
#[derive(Serialize)]
#[serde(tag = "type", rename = "cost-state")]
struct Head<'a> {
    #[serde(rename = "sessionId")]
    session_id: &'a SessionId,
}

impl CostState {
    pub(super) fn to_entry(&self, session_id: &SessionId) -> Object {
        let mut entry = object(&Head { session_id });
        entry.extend(object(self));
        entry
    }
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = Value::deserialize(deserializer)?.as_f64();
    Ok(number.filter(|number| number.is_finite()).unwrap_or(0.0))
}

fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(number(deserializer)?.max(0.0))
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    // Saturates: a negative or absurd number in a damaged file is no reason to stop.
    Ok(number(deserializer)? as u64)
}

fn usage<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Object(usage) => Ok(usage),
        _ => Ok(Object::new()),
    }
}

fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Value::deserialize(deserializer)? == Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn totals_survive_the_file_and_damage_counts_as_nothing() {
        let mut model_usage = Object::new();
        model_usage.insert("m".to_owned(), json!({"inputTokens": 3, "costUSD": 0.1}));
        let state = CostState {
            total_cost_usd: 0.000_42,
            api_duration_ms: 88,
            lines_added: 2,
            model_usage,
            ..CostState::default()
        };
        let entry = Value::Object(state.to_entry(&SessionId::new("s")));
        assert_eq!(entry["type"], "cost-state");
        let of = |entry: Value| serde_json::from_value::<CostState>(entry).expect("readable");
        assert_eq!(of(entry), state);
        let damaged = json!({"totalCostUSD": "x", "totalDuration": -5, "modelUsage": [1]});
        assert_eq!(of(damaged), CostState::default());
    }
}
