//! "Always" rules of users.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{RuleId, SessionId};
use crate::time::Timestamp;

super::word_enum! {
    /// The effect of a rule.
    RuleEffect {
        /// It may be done.
        Allow = "allow",
        /// It may not.
        Deny = "deny",
        /// A person is asked, whatever allows it.
        Ask = "ask",
    }
}

/// The scope of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RuleScope {
    /// In one session; it goes with it.
    Session {
        /// Session.
        id: SessionId,
    },
    /// In sessions that work in this directory or below.
    Project {
        /// Directory.
        path: String,
    },
    /// Everywhere.
    User,
}

impl RuleScope {
    /// Returns `true` if it holds in this session that works in this directory.
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
    /// Calls that it covers, such as `Bash(git status:*)`.
    pub text: String,
    /// Effect.
    pub effect: RuleEffect,
    /// Scope.
    pub scope: RuleScope,
    /// Author.
    pub created_by: String,
    /// Time of making.
    pub created_at: Timestamp,
    /// Number of requests it has answered.
    pub used: u64,
    /// Time of its last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
}

/// A rule to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewRule {
    /// Calls that it covers.
    pub text: String,
    /// Effect.
    pub effect: RuleEffect,
    /// Scope.
    pub scope: RuleScope,
    /// Author.
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

/// A change to a rule. A field that is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RulePatch {
    /// Calls that it covers.
    pub text: Option<String>,
    /// Effect.
    pub effect: Option<RuleEffect>,
    /// Scope.
    pub scope: Option<RuleScope>,
}
