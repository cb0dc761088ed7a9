//! Requests of the agent: permissions and questions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The agent wants to do something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PermissionRequested {
    /// The request.
    pub id: String,
    /// The call it is about.
    pub tool_use_id: String,
    /// The tool.
    pub tool: String,
    /// Exactly what would be done.
    pub input: Value,
    /// A hash of everything that is shown of the request: tool, input, directory, reason and
    /// suggestions among it. An answer names it, so that nobody approves what he did not see.
    pub digest: String,
    /// Reason for asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Rules the engine suggests for "always", as it says them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Value>,
    /// The sub-agent that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The question in the engine's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Purpose of the call, in the engine's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The path because of which it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_path: Option<String>,
    /// Directory in which the shell would run the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `true` if only a person may allow it: a check, a hook, a mode or a rule wants it asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
    /// Time at which it is denied unless somebody answers, in RFC 3339; absent if it stays open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

impl PermissionRequested {
    /// A request with nothing but what every request has.
    pub fn new(
        id: impl Into<String>,
        tool: impl Into<String>,
        input: Value,
        digest: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            tool_use_id: String::new(),
            tool: tool.into(),
            input,
            digest: digest.into(),
            reason: None,
            suggestions: Vec::new(),
            agent: None,
            title: None,
            description: None,
            blocked_path: None,
            cwd: None,
            needs_person: false,
            expires_at: None,
        }
    }
}

/// Somebody, or something, answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PermissionResolved {
    /// The request.
    pub id: String,
    /// The answer.
    pub resolution: Resolution,
    /// Person or program that answered.
    pub by: String,
    /// Text for the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The input that runs instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Value>,
    /// The one rule that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Value>,
    /// Form in which the person who answered saw it; rules and policies see all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
}

impl PermissionResolved {
    /// An answer with nothing but what every answer has.
    pub fn new(id: impl Into<String>, resolution: Resolution, by: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            resolution,
            by: by.into(),
            message: None,
            edited: None,
            rule: None,
            shown: None,
        }
    }
}

/// The form in which a person saw a request before answering it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shown {
    /// On a terminal, all of it at once.
    Full,
    /// On a terminal, page by page to its end.
    Viewed,
    /// On a terminal, its beginning and its end; the person chose to skip the rest.
    Skipped,
    /// On a terminal, its beginning and its end. Such a request can only be denied.
    Part,
    /// On the server's page, to its end.
    Page,
    /// By a program that answered over the API and did not say more.
    Api,
}

/// The fate of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Resolution {
    /// It may be done.
    Allowed,
    /// It may not.
    Denied,
    /// The engine no longer wants to know.
    Withdrawn,
    /// Nobody answered in time; that is a denial.
    Expired,
}

/// The agent asks the user something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct QuestionRequested {
    /// The request.
    pub id: String,
    /// Kind of question.
    pub kind: QuestionKind,
    /// The form: questions with options, a plan, a schema.
    pub form: Value,
    /// A hash of kind and form: an answer names it, so that nobody answers what he did not see.
    #[serde(default)]
    pub digest: String,
    /// The call it is about, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Time at which it is denied unless somebody answers, in RFC 3339; absent if it stays open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

impl QuestionRequested {
    /// A question with nothing but what every question has.
    pub fn new(
        id: impl Into<String>,
        kind: QuestionKind,
        form: Value,
        digest: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            kind,
            form,
            digest: digest.into(),
            tool_use_id: None,
            expires_at: None,
        }
    }
}

/// Kinds of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuestionKind {
    /// Questions with options.
    Choice,
    /// A plan to approve.
    Plan,
    /// A form of an MCP server.
    Elicitation,
}

/// The question is answered, or not asked any more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct QuestionResolved {
    /// The request.
    pub id: String,
    /// Fate of the question.
    pub resolution: Resolution,
    /// Person or program that answered.
    pub by: String,
    /// The answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Value>,
    /// Reason there are no answers, or a remark beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Form in which the person who answered saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
}

impl QuestionResolved {
    /// An answer with nothing but what every answer has.
    pub fn new(id: impl Into<String>, resolution: Resolution, by: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            resolution,
            by: by.into(),
            answers: None,
            message: None,
            shown: None,
        }
    }
}
