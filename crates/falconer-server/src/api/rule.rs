//! "Always" rules.

use falconer_hub::{Explained, Suggested, WouldHave};
use falconer_store::{RuleEffect, RuleId, RuleRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A rule that answers permissions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub(crate) struct Rule(pub(crate) RuleRecord);

/// All rules, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RuleList {
    pub(crate) rules: Vec<Rule>,
}

/// Where a rule holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum RuleReach {
    /// In one session.
    Session {
        /// Which.
        id: String,
    },
    /// In sessions that work in this directory or below.
    Project {
        /// Which.
        path: String,
    },
    /// Everywhere.
    User,
}

/// A rule to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleAsked {
    /// What it is about, such as `Bash(git status:*)`.
    pub(crate) text: String,
    pub(crate) effect: RuleEffect,
    pub(crate) scope: RuleReach,
}

/// What is to be different about a rule; what is missing stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeRule {
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) effect: Option<RuleEffect>,
    #[serde(default)]
    pub(crate) scope: Option<RuleReach>,
}

/// A call to judge.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainRule {
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) input: Value,
    /// Where it would be made; the session's directory otherwise.
    #[serde(default)]
    pub(crate) cwd: Option<String>,
    /// The session that would make it.
    #[serde(default)]
    pub(crate) session: Option<String>,
    /// A rule that does not exist yet: how much would it have allowed?
    #[serde(default)]
    pub(crate) rule: Option<String>,
}

/// What the rules say about a call, and why.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Explanation {
    pub(crate) effect: RuleEffect,
    /// For people.
    pub(crate) because: String,
    /// The rule that decides, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<RuleId>,
    /// Rules that would allow it, from narrow to wide.
    pub(crate) suggestions: Vec<Suggested>,
    /// What the rule that was asked about would have done to the last requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) would_have_allowed: Option<WouldHave>,
}

impl From<Explained> for Explanation {
    fn from(explained: Explained) -> Self {
        Self {
            effect: explained.effect,
            because: explained.because,
            rule: explained.rule,
            suggestions: explained.suggestions,
            would_have_allowed: explained.would_have,
        }
    }
}
