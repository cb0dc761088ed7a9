//! One thing that was looked at.

use std::fmt::Display;

use serde::Serialize;

/// What was looked at, and what to do if it is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) state: State,
    pub(super) text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) details: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<String>,
}

/// How it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Ok,
    /// Something will not work, but runs can be started.
    Warning,
    /// Runs cannot be started.
    Failed,
    Skipped,
}

impl Check {
    pub(super) fn ok(name: &'static str, text: String) -> Self {
        Self {
            name,
            state: State::Ok,
            text,
            details: Vec::new(),
            fix: None,
        }
    }

    pub(super) fn skipped(name: &'static str, text: &str) -> Self {
        Self {
            state: State::Skipped,
            ..Self::ok(name, text.to_owned())
        }
    }

    pub(super) fn warning(name: &'static str, text: impl Display, fix: impl Display) -> Self {
        Self {
            state: State::Warning,
            fix: Some(fix.to_string()),
            ..Self::ok(name, text.to_string())
        }
    }

    pub(super) fn failed(name: &'static str, text: impl Display, fix: impl Display) -> Self {
        Self {
            state: State::Failed,
            ..Self::warning(name, text, fix)
        }
    }

    pub(super) fn details(mut self, details: &[String]) -> Self {
        self.details = details.to_vec();
        self
    }
}

/// "no session", "1 session", "2 sessions".
pub(super) fn counted(count: u64, what: &str) -> String {
    match count {
        0 => format!("no {what}"),
        1 => format!("1 {what}"),
        many => format!("{many} {what}s"),
    }
}
