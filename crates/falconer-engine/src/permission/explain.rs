//! What would happen to a call, in words for people.

use std::fmt;

use super::Permissions;
use super::question::{Because, Question, Verdict};

/// What would happen, and why.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Explanation {
    pub(crate) outcome: Outcome,
    pub(crate) because: Because,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Allowed,
    Asked,
    Denied,
}

impl Permissions {
    /// Explains what [`Permissions::judge`] says.
    pub(crate) fn explain(&self, question: &Question<'_>) -> Explanation {
        let (outcome, because) = match self.judge(question) {
            Verdict::Allow { reason } => (Outcome::Allowed, reason),
            Verdict::Deny { reason, .. } => (Outcome::Denied, reason),
            Verdict::Ask(ask) => (Outcome::Asked, ask.because),
        };
        Explanation { outcome, because }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            Outcome::Allowed => "allowed",
            Outcome::Asked => "asked",
            Outcome::Denied => "denied",
        };
        write!(formatter, "{outcome}: {}", self.because)
    }
}
