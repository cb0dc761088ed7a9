//! The limits of a session, as they are kept in its record.

use std::time::Duration;

use falconer_session::Limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What each run of a session may take.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SessionLimits {
    /// Seconds from start to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_seconds: Option<f64>,
    /// Seconds without a word of the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<f64>,
    /// How often the model is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Tokens the model reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens the model writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// All tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
}

impl SessionLimits {
    /// The limits in the record of a session.
    ///
    /// # Errors
    /// If they are not limits: a session must not run without those it was given.
    pub(crate) fn of(config: &Value) -> Result<Self, String> {
        match config.get("limits") {
            None | Some(Value::Null) => Ok(Self::default()),
            Some(limits) => Self::deserialize(limits)
                .map_err(|error| format!("the limits make no sense: {error}")),
        }
    }

    /// The smaller of each two.
    pub(crate) fn within(self, widest: &Self) -> Self {
        fn smaller<T: PartialOrd + Copy>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) if other < one => Some(other),
                (one, other) => one.or(other),
            }
        }
        Self {
            deadline_seconds: smaller(self.deadline_seconds, widest.deadline_seconds),
            silence_seconds: smaller(self.silence_seconds, widest.silence_seconds),
            turns: smaller(self.turns, widest.turns),
            usd: smaller(self.usd, widest.usd),
            input_tokens: smaller(self.input_tokens, widest.input_tokens),
            output_tokens: smaller(self.output_tokens, widest.output_tokens),
            total_tokens: smaller(self.total_tokens, widest.total_tokens),
        }
    }

    pub(crate) fn for_session(&self) -> Result<Limits, String> {
        let mut limits = Limits::default();
        limits.deadline = seconds("deadline_seconds", self.deadline_seconds)?;
        limits.silence = seconds("silence_seconds", self.silence_seconds)?;
        limits.turns = self.turns;
        limits.usd = self.usd;
        limits.input_tokens = self.input_tokens;
        limits.output_tokens = self.output_tokens;
        limits.total_tokens = self.total_tokens;
        // A session that waits for the next message is no run that does not end.
        limits.grace = None;
        Ok(limits)
    }
}

fn seconds(name: &str, value: Option<f64>) -> Result<Option<Duration>, String> {
    let Some(value) = value else {
        return Ok(None);
    };
    match Duration::try_from_secs_f64(value) {
        Ok(time) if !time.is_zero() => Ok(Some(time)),
        _ => Err(format!("{name} is {value}, which is no time to wait")),
    }
}
