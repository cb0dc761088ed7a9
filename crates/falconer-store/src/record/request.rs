//! Permissions and questions, and who answered what.

use falconer_event::Shown;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{RequestId, SessionId};
use crate::time::Timestamp;

super::word_enum! {
    /// What is asked.
    RequestKind {
        /// May this tool run?
        Permission = "permission",
        /// Questions with options.
        Choice = "choice",
        /// A plan to approve.
        Plan = "plan",
        /// A form of an MCP server.
        Elicitation = "elicitation",
    }
}

super::word_enum! {
    /// How far a request came.
    RequestState {
        /// Nobody answered yet.
        Pending = "pending",
        /// Somebody did; the agent does not know it yet.
        Answered = "answered",
        /// The agent has the answer.
        Delivered = "delivered",
        /// Nobody answered in time, or the agent was gone before the answer reached it.
        Expired = "expired",
        /// The agent no longer wants to know.
        Withdrawn = "withdrawn",
    }
}

impl RequestState {
    /// Whether a request in this state may be settled like that.
    pub fn may_become(self, next: Self) -> bool {
        use RequestState::{Answered, Delivered, Expired, Pending, Withdrawn};
        matches!(
            (self, next),
            (Pending, Expired | Withdrawn) | (Answered, Delivered | Expired | Withdrawn)
        )
    }
}

/// A permission or a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RequestRecord {
    /// Its name; events name it.
    pub id: RequestId,
    /// Whose agent asks.
    pub session: SessionId,
    /// What is asked.
    pub kind: RequestKind,
    /// The tool, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The call it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Exactly what would be done, or the form.
    pub input: Value,
    /// A hash of what is shown; an answer names it.
    pub digest: String,
    /// A line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// More lines for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The path that made the engine ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_path: Option<String>,
    /// Why it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The directory in which the call would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Rules the engine suggests for "always".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Value>,
    /// The sub-agent that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// When it was stored.
    pub requested_at: Timestamp,
    /// When it will be given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// How far it came.
    pub state: RequestState,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionRecord>,
}

/// An answer: who, when and what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DecisionRecord {
    /// What was answered, as the layer above writes it.
    pub verdict: Value,
    /// Who answered.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The input that runs instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Value>,
    /// The rule that was made, or that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What the agent is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How the request was shown to the person who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
}

impl DecisionRecord {
    /// An answer given now.
    pub fn new(verdict: Value, by: impl Into<String>) -> Self {
        Self {
            verdict,
            by: by.into(),
            at: Timestamp::now(),
            edited: None,
            rule: None,
            message: None,
            shown: None,
        }
    }
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum Decided {
    /// It counts.
    Won(RequestRecord),
    /// Somebody was faster; the record says who and what.
    Lost(RequestRecord),
    /// The digest is not that of the request: the caller saw something else.
    Changed(RequestRecord),
    /// The request expired or was withdrawn.
    Gone(RequestRecord),
    /// There is no such request.
    NotFound,
}

/// A request to be stored.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewRequest {
    /// Its name.
    pub id: RequestId,
    /// What is asked.
    pub kind: RequestKind,
    /// The tool, if it is about one.
    pub tool: Option<String>,
    /// The call it is about.
    pub tool_use_id: Option<String>,
    /// Exactly what would be done, or the form.
    pub input: Value,
    /// A hash of what is shown.
    pub digest: String,
    /// A line for people.
    pub title: Option<String>,
    /// More lines for people.
    pub description: Option<String>,
    /// The path that made the engine ask.
    pub blocked_path: Option<String>,
    /// Why it is asked.
    pub reason: Option<String>,
    /// The directory in which the call would run.
    pub cwd: Option<String>,
    /// Rules the engine suggests for "always".
    pub suggestions: Vec<Value>,
    /// The sub-agent that asks.
    pub agent: Option<String>,
    /// When it will be given up.
    pub expires_at: Option<Timestamp>,
}

impl NewRequest {
    /// A request with nothing but what every request has.
    pub fn new(
        id: impl Into<RequestId>,
        kind: RequestKind,
        input: Value,
        digest: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            kind,
            tool: None,
            tool_use_id: None,
            input,
            digest: digest.into(),
            title: None,
            description: None,
            blocked_path: None,
            reason: None,
            cwd: None,
            suggestions: Vec::new(),
            agent: None,
            expires_at: None,
        }
    }
}
