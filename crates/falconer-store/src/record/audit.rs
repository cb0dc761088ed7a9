//! The record of actions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{AuditId, SessionId};
use crate::time::Timestamp;

/// Something somebody did. It outlives the session it is about, and cannot be changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AuditRecord {
    /// Its number.
    pub id: AuditId,
    /// Time of the action.
    pub at: Timestamp,
    /// Actor: `token:<id>`, `rule:<id>`, `server`.
    pub who: String,
    /// Action, such as `request.answer`.
    pub action: String,
    /// In which session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// More about it; never a secret.
    #[serde(default)]
    pub detail: Value,
}

/// Something to be recorded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewAudit {
    /// Actor.
    pub who: String,
    /// Action.
    pub action: String,
    /// In which session.
    pub session: Option<SessionId>,
    /// More about it; never a secret.
    pub detail: Value,
}

impl NewAudit {
    /// Somebody did something.
    pub fn new(who: impl Into<String>, action: impl Into<String>) -> Self {
        Self {
            who: who.into(),
            action: action.into(),
            session: None,
            detail: Value::Null,
        }
    }

    /// In this session.
    #[must_use]
    pub fn session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// More about it.
    #[must_use]
    pub fn detail(mut self, detail: Value) -> Self {
        self.detail = detail;
        self
    }
}
