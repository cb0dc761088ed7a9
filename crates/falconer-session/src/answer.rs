//! Answers to what the agent asks.

use std::collections::BTreeMap;

use falconer_event::Shown;
use falconer_protocol::permission::PermissionMode;
use serde_json::{Map, Value};

/// An answer to one request: about exactly what was shown, by somebody.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Answer {
    /// The request.
    pub id: String,
    /// The digest of the request that was shown.
    pub digest: String,
    /// Who answers; for the record.
    pub by: String,
    /// What is answered.
    pub verdict: Verdict,
    /// The rule of the caller's own that this answer comes from, or makes; for the record.
    pub rule: Option<Value>,
    /// How the request was shown to the person who answers; for the record.
    pub shown: Option<Shown>,
}

/// What can be answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// A permission: do it.
    Allow,
    /// A permission: do this instead.
    AllowEdited(Value),
    /// A permission: do it, and remember the suggested rule with this number.
    AllowAlways(usize),
    /// A permission, or a question that is not to be answered: no, for this reason.
    Deny(String),
    /// A permission: no, and end the turn.
    DenyAndStop(String),
    /// Questions: the choices or free texts, by question.
    Choices(BTreeMap<String, Vec<String>>),
    /// A plan: go on, in another mode if one is named.
    ApprovePlan(Option<PermissionMode>),
    /// A form of an MCP server: its fields.
    Form(Map<String, Value>),
}

impl Verdict {
    /// Whether it lets the agent do nothing.
    pub fn is_denial(&self) -> bool {
        matches!(self, Self::Deny(_) | Self::DenyAndStop(_))
    }
}

impl Answer {
    /// Any answer.
    pub fn new(
        id: impl Into<String>,
        digest: impl Into<String>,
        by: impl Into<String>,
        verdict: Verdict,
    ) -> Self {
        Self {
            id: id.into(),
            digest: digest.into(),
            by: by.into(),
            verdict,
            rule: None,
            shown: None,
        }
    }

    /// Names the rule of the caller's own that this answer comes from, or makes.
    pub fn rule(mut self, rule: impl Into<Value>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// Says how the request was shown to the person who answers.
    pub fn shown(mut self, shown: impl Into<Option<Shown>>) -> Self {
        self.shown = shown.into();
        self
    }

    /// Do it.
    pub fn allow(id: impl Into<String>, digest: impl Into<String>, by: impl Into<String>) -> Self {
        Self::new(id, digest, by, Verdict::Allow)
    }

    /// Do not, for this reason.
    pub fn deny(
        id: impl Into<String>,
        digest: impl Into<String>,
        by: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self::new(id, digest, by, Verdict::Deny(reason.into()))
    }
}
