//! "Always" rules of users.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{RuleId, SessionId};
use crate::time::Timestamp;

super::word_enum! {
    /// What a rule says.
    RuleEffect {
        /// It may be done.
        Allow = "allow",
        /// It may not.
        Deny = "deny",
        /// A person is asked, whatever allows it.
        Ask = "ask",
    }
}

/// Where a rule holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RuleScope {
    /// In one session; it goes with it.
    Session {
        /// Which.
        id: SessionId,
    },
    /// In sessions that work in this directory or below.
    Project {
        /// Which.
        path: String,
    },
    /// Everywhere.
    User,
}

impl RuleScope {
    /// Whether it holds in this session that works in this directory.
    pub fn covers(&self, session: &SessionId, cwd: &str) -> bool {
        match self {
            Self::Session { id } => id == session,
            Self::Project { path } => Path::new(cwd).starts_with(path),
            Self::User => true,
        }
    }
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RuleRecord {
    /// Its name.
    pub id: RuleId,
    /// What it is about, such as `Bash(git status:*)`.
    pub text: String,
    /// What it says.
    pub effect: RuleEffect,
    /// Where it holds.
    pub scope: RuleScope,
    /// Who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// How often it answered.
    pub used: u64,
    /// When it answered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
}

/// A rule to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewRule {
    /// What it is about.
    pub text: String,
    /// What it says.
    pub effect: RuleEffect,
    /// Where it holds.
    pub scope: RuleScope,
    /// Who makes it.
    pub created_by: String,
}

impl NewRule {
    /// A rule.
    pub fn new(
        text: impl Into<String>,
        effect: RuleEffect,
        scope: RuleScope,
        created_by: impl Into<String>,
    ) -> Self {
        Self {
            text: text.into(),
            effect,
            scope,
            created_by: created_by.into(),
        }
    }
}

/// What changes about a rule. A field that is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RulePatch {
    /// What it is about.
    pub text: Option<String>,
    /// What it says.
    pub effect: Option<RuleEffect>,
    /// Where it holds.
    pub scope: Option<RuleScope>,
}
