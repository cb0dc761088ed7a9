//! Turns: one for every result.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::FailureKind;

/// A turn begins.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TurnStarted {
    /// The prompts that caused it, by the ids the host gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A turn is over.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TurnCompleted {
    /// `true` if it succeeded; `is_error` decides, nothing else.
    pub ok: bool,
    /// The answer.
    pub text: String,
    /// The value asked for by a schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Value>,
    /// Reason for a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Tokens of this turn.
    pub tokens: Tokens,
    /// Use of each model since the session began, as the engine reports it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, Value>,
    /// Cost of the run so far, in US dollars, without the cost of a session before it was resumed.
    pub total_cost_usd: f64,
    /// Number of requests to the model, roughly.
    pub model_turns: u64,
    /// From the prompt to the result.
    pub duration_ms: f64,
    /// Thereof waiting for the model.
    pub api_duration_ms: f64,
    /// Calls that were not permitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// Reason the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Reason the turn ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_reason: Option<String>,
    /// The prompts it answers, by the ids the host gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    /// Cause of the turn, if not a prompt of the host: `task-notification`, for instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// The reason a turn or a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Failure {
    /// A word a program can match: the subtype or terminal reason of the engine, or one of
    /// Falconer's own.
    pub class: String,
    /// The kind, where the engine tells it by a code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// For people.
    pub text: String,
    /// Advice for people: how to fix it, or how to continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Failure {
    /// A failure.
    pub fn new(class: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            class: class.into(),
            kind: None,
            text: text.into(),
            hint: None,
        }
    }

    /// Sets the kind, and the advice for it unless there is some already.
    #[must_use]
    pub fn of_kind(mut self, kind: impl Into<Option<FailureKind>>) -> Self {
        self.kind = kind.into();
        let advice = self.kind.and_then(FailureKind::advice);
        self.hint = self.hint.or(advice.map(str::to_owned));
        self
    }

    /// Sets the advice.
    #[must_use]
    pub fn hint(mut self, advice: impl Into<String>) -> Self {
        self.hint = Some(advice.into());
        self
    }
}

/// The class of a turn that somebody stopped.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// A call that was not permitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Denial {
    /// The tool.
    pub tool: String,
    /// The call.
    pub id: String,
    /// Its input.
    pub input: Value,
}

/// Tokens, those of the cache included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Tokens {
    /// Read by the model, not from the cache.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
}

impl Tokens {
    /// All of them.
    pub fn total(self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, more: Self) {
        self.input += more.input;
        self.output += more.output;
        self.cache_read += more.cache_read;
        self.cache_write += more.cache_write;
    }
}
