//! Permissions and questions, and who answered what.

use falconer_event::Shown;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{RequestId, SessionId};
use crate::time::Timestamp;

super::word_enum! {
    /// The kind of a request.
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
    /// The progress of a request.
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
    /// Returns `true` if a request in this state may be settled like that.
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
    /// Kind of request.
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
    /// Reason for asking.
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
    /// Time of storing.
    pub requested_at: Timestamp,
    /// Time at which it will be given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Progress.
    pub state: RequestState,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionRecord>,
}

/// An answer: who, when and what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DecisionRecord {
    /// Answer, as the layer above writes it.
    pub verdict: Value,
    /// Person or program that answered.
    pub by: String,
    /// Time of the answer.
    pub at: Timestamp,
    /// The input that runs instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Value>,
    /// The rule that was made, or that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Text for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Form in which the person who answered saw the request.
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

/// The fate of an answer.
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
    /// Kind of request.
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
    /// Reason for asking.
    pub reason: Option<String>,
    /// The directory in which the call would run.
    pub cwd: Option<String>,
    /// Rules the engine suggests for "always".
    pub suggestions: Vec<Value>,
    /// The sub-agent that asks.
    pub agent: Option<String>,
    /// Time at which it will be given up.
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
