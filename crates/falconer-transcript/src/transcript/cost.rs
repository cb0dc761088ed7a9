//! The totals of a session, kept in its transcript so that a resumed session goes on counting.

use falconer_protocol::{Object, SessionId};
use serde_json::{Map, Value, json};

/// What a session has cost so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CostState {
    pub total_cost_usd: f64,
    pub api_duration_ms: u64,
    pub api_duration_without_retries_ms: u64,
    pub tool_duration_ms: u64,
    pub lines_added: u64,
    pub lines_removed: u64,
    /// How long the session has run, over all its runs.
    pub duration_ms: u64,
    /// When this run began, in milliseconds since 1970.
    pub start_time_ms: u64,
    /// Tokens and cost per model, with the wire's field names.
    pub model_usage: Object,
    /// Whether a model was used whose price is not known.
    pub has_unknown_model_cost: bool,
}

impl CostState {
    pub(super) fn to_entry(&self, session: &SessionId) -> Object {
        let Value::Object(entry) = json!({
            "type": "cost-state",
            "sessionId": session,
            "totalCostUSD": self.total_cost_usd,
            "totalAPIDuration": self.api_duration_ms,
            "totalAPIDurationWithoutRetries": self.api_duration_without_retries_ms,
            "totalToolDuration": self.tool_duration_ms,
            "totalLinesAdded": self.lines_added,
            "totalLinesRemoved": self.lines_removed,
            "totalDuration": self.duration_ms,
            "startTime": self.start_time_ms,
            "modelUsage": self.model_usage,
            "hasUnknownModelCost": self.has_unknown_model_cost,
        }) else {
            return Map::new();
        };
        entry
    }

    /// Takes what is there; a field of another type counts as nothing.
    pub(super) fn of_entry(entry: &Value) -> Self {
        let count = |name: &str| {
            let number = entry.get(name).and_then(Value::as_f64).unwrap_or(0.0);
            // Saturates: a negative or absurd number in a damaged file is no reason to stop.
            number as u64
        };
        let cost = entry.get("totalCostUSD").and_then(Value::as_f64);
        let usage = entry.get("modelUsage").and_then(Value::as_object);
        Self {
            total_cost_usd: cost.filter(|cost| cost.is_finite()).unwrap_or(0.0).max(0.0),
            api_duration_ms: count("totalAPIDuration"),
            api_duration_without_retries_ms: count("totalAPIDurationWithoutRetries"),
            tool_duration_ms: count("totalToolDuration"),
            lines_added: count("totalLinesAdded"),
            lines_removed: count("totalLinesRemoved"),
            duration_ms: count("totalDuration"),
            start_time_ms: count("startTime"),
            model_usage: usage.cloned().unwrap_or_default(),
            has_unknown_model_cost: entry["hasUnknownModelCost"] == true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_survive_the_file_and_damage_counts_as_nothing() {
        let mut model_usage = Map::new();
        model_usage.insert("m".to_owned(), json!({"inputTokens": 3, "costUSD": 0.1}));
        let state = CostState {
            total_cost_usd: 0.000_42,
            api_duration_ms: 88,
            lines_added: 2,
            model_usage,
            ..CostState::default()
        };
        let entry = Value::Object(state.to_entry(&SessionId::new("s")));
        assert_eq!(CostState::of_entry(&entry), state);
        let damaged = json!({"totalCostUSD": "x", "totalDuration": -5, "modelUsage": [1]});
        assert_eq!(CostState::of_entry(&damaged), CostState::default());
    }
}
