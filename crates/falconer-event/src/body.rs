//! Bodies of events.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::Action;
use crate::id::ItemId;
use crate::image::Image;
use crate::prompt::Prompt;
use crate::request::{
    PermissionRequested, PermissionResolved, QuestionRequested, QuestionResolved,
};
use crate::turn::{Failure, Tokens, TurnCompleted, TurnStarted};

/// The body of an event: its `type` and `data`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "data")]
#[non_exhaustive]
pub enum Body {
    /// The engine runs, and its session is known.
    #[serde(rename = "run.started")]
    RunStarted(Box<RunStarted>),
    /// A turn begins.
    #[serde(rename = "turn.started")]
    TurnStarted(TurnStarted),
    /// A turn is over; one for every result.
    #[serde(rename = "turn.completed")]
    TurnCompleted(Box<TurnCompleted>),
    /// A message, a thought or an action begins.
    #[serde(rename = "item.started")]
    ItemStarted(Box<Item>),
    /// More of a text. It is streamed, not stored, and has no number of its own.
    #[serde(rename = "item.delta")]
    ItemDelta {
        /// The item.
        id: ItemId,
        /// Number of characters (Unicode scalar values) of the item that were streamed before.
        #[serde(default)]
        offset: u64,
        /// Text to append.
        text: String,
    },
    /// The whole message, thought or action.
    #[serde(rename = "item.completed")]
    ItemCompleted(Box<Item>),
    /// The agent wants to do something.
    #[serde(rename = "permission.requested")]
    PermissionRequested(Box<PermissionRequested>),
    /// It may, or may not.
    #[serde(rename = "permission.resolved")]
    PermissionResolved(Box<PermissionResolved>),
    /// The agent asks the user something.
    #[serde(rename = "question.requested")]
    QuestionRequested(Box<QuestionRequested>),
    /// It is answered.
    #[serde(rename = "question.resolved")]
    QuestionResolved(Box<QuestionResolved>),
    /// A task starts: a shell or a sub-agent.
    #[serde(rename = "task.started")]
    TaskStarted(Box<Task>),
    /// A task goes on.
    #[serde(rename = "task.progress")]
    TaskProgress(Box<Task>),
    /// A task is over.
    #[serde(rename = "task.completed")]
    TaskCompleted(Box<Task>),
    /// Something about the session is different now.
    #[serde(rename = "session.changed")]
    SessionChanged(SessionChanged),
    /// The model could not be asked and is asked again.
    #[serde(rename = "retry")]
    Retry(Retry),
    /// A limit is near, or reached.
    #[serde(rename = "limit")]
    Limit(Limit),
    /// Something is not as it should be.
    #[serde(rename = "warning")]
    Warning(Warning),
    /// A message of the engine that has no event of its own.
    #[serde(rename = "unknown")]
    Unknown(Unknown),
    /// The run is over; exactly once, last.
    #[serde(rename = "run.completed")]
    RunCompleted(Box<RunCompleted>),
}

impl Body {
    /// The `type` of an event with this body.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RunStarted(_) => "run.started",
            Self::TurnStarted(_) => "turn.started",
            Self::TurnCompleted(_) => "turn.completed",
            Self::ItemStarted(_) => "item.started",
            Self::ItemDelta { .. } => "item.delta",
            Self::ItemCompleted(_) => "item.completed",
            Self::PermissionRequested(_) => "permission.requested",
            Self::PermissionResolved(_) => "permission.resolved",
            Self::QuestionRequested(_) => "question.requested",
            Self::QuestionResolved(_) => "question.resolved",
            Self::TaskStarted(_) => "task.started",
            Self::TaskProgress(_) => "task.progress",
            Self::TaskCompleted(_) => "task.completed",
            Self::SessionChanged(_) => "session.changed",
            Self::Retry(_) => "retry",
            Self::Limit(_) => "limit",
            Self::Warning(_) => "warning",
            Self::Unknown(_) => "unknown",
            Self::RunCompleted(_) => "run.completed",
        }
    }

    /// Returns the id that events about one thing share: the call, the message, the request or the
    /// task.
    pub fn correlation(&self) -> Option<&str> {
        let id = match self {
            Self::ItemStarted(item) | Self::ItemCompleted(item) => item.id.as_str(),
            Self::ItemDelta { id, .. } => id.as_str(),
            Self::PermissionRequested(asked) => {
                if asked.tool_use_id.is_empty() {
                    &asked.id
                } else {
                    &asked.tool_use_id
                }
            }
            Self::QuestionRequested(asked) => asked.tool_use_id.as_ref().unwrap_or(&asked.id),
            Self::PermissionResolved(resolved) => &resolved.id,
            Self::QuestionResolved(resolved) => &resolved.id,
            Self::TaskStarted(task) | Self::TaskProgress(task) | Self::TaskCompleted(task) => {
                task.tool_use_id.as_ref().unwrap_or(&task.id)
            }
            Self::TurnStarted(turn) => turn.prompts.first()?,
            Self::TurnCompleted(turn) => turn.prompts.first()?,
            _ => return None,
        };
        Some(id)
    }

    /// The images a tool returned.
    pub fn images(&self) -> &[Image] {
        match self {
            Self::ItemCompleted(item) => match &item.content {
                ItemContent::Action(action) => &action.images,
                _ => &[],
            },
            _ => &[],
        }
    }

    /// The images a tool returned, for whoever keeps them.
    pub fn images_mut(&mut self) -> &mut [Image] {
        match self {
            Self::ItemCompleted(item) => match &mut item.content {
                ItemContent::Action(action) => &mut action.images,
                _ => &mut [],
            },
            _ => &mut [],
        }
    }

    /// Returns `true` if it is only streamed: it takes no number, is not stored, and may be missed.
    pub fn is_ephemeral(&self) -> bool {
        matches!(self, Self::ItemDelta { .. })
    }
}

/// The engine and settings of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RunStarted {
    /// `claude`, `native` or `script`.
    pub engine: String,
    /// Reason this engine was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_reason: Option<String>,
    /// The version the engine reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The engine's own id of the session; opaque.
    pub native_session: String,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Working directory.
    pub cwd: String,
    /// The permission mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// Origin of the credentials; never the credentials themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<String>,
    /// `api` or `subscription`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing: Option<String>,
    /// The sandbox in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// `in force` if the kernel keeps commands that run unasked from writing, otherwise the reason
    /// it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<String>,
    /// The tools on offer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The schemas of tools, by name, as they are offered to the model: those of the host's own
    /// tools, and all of the native engine. The official CLI does not tell the schemas of its own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_schemas: BTreeMap<String, Value>,
    /// The MCP servers, and whether they are connected, as the engine says it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_servers: BTreeMap<String, String>,
}

/// A message, a thought or an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Item {
    /// Stays the same from start to end.
    pub id: ItemId,
    /// Kind and content.
    pub content: ItemContent,
}

impl Item {
    /// An item.
    pub fn new(id: impl Into<ItemId>, content: ItemContent) -> Self {
        Self {
            id: id.into(),
            content,
        }
    }

    /// A message of the user.
    pub fn prompt(id: impl Into<ItemId>, prompt: Prompt) -> Self {
        Self {
            id: id.into(),
            content: ItemContent::Prompt(Box::new(prompt)),
        }
    }
}

/// The kind and content of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemContent {
    /// A message of the user; the item has the id of the message.
    Prompt(Box<Prompt>),
    /// Text of the agent.
    Message {
        /// The text.
        text: String,
    },
    /// Text put into the conversation by the engine or a hook.
    Injected {
        /// The text.
        text: String,
    },
    /// Reasoning of the agent.
    Thought {
        /// The text; empty if the model keeps it to itself.
        text: String,
    },
    /// A summary of several actions in one sentence.
    Summary {
        /// The sentence.
        text: String,
        /// The actions.
        of: Vec<String>,
    },
    /// A tool call.
    Action(Box<Action>),
}

/// A shell or a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Task {
    /// The task.
    pub id: String,
    /// `local_bash`, `local_agent` and others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Purpose of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// `true` if the agent goes on meanwhile.
    pub in_background: bool,
    /// Latest activity, or the report once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// End of the task; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<TaskEnd>,
}

/// The end of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskEnd {
    /// It did what it was for.
    Completed,
    /// It failed.
    Failed,
    /// Somebody stopped it.
    Stopped,
    /// The run ended first.
    Aborted,
}

/// Something about the session is different now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionChanged {
    /// Another model answers.
    Model {
        /// Before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// Now.
        to: String,
        /// Reason for the change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Another permission mode.
    Mode {
        /// Now.
        to: String,
    },
    /// Another title.
    Title {
        /// Now.
        to: String,
    },
    /// Earlier messages were replaced by a summary.
    Compacted {
        /// `manual` or `auto`.
        trigger: String,
        /// Tokens before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tokens_before: Option<u64>,
        /// Tokens after.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tokens_after: Option<u64>,
    },
    /// The conversation was cleared and goes on under another id.
    Reset {
        /// The engine's new id of the session, when it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native_session: Option<String>,
    },
    /// A copy goes on under another id.
    Forked {
        /// The engine's id of the copy.
        native_session: String,
    },
}

/// The model could not be asked and is asked again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Retry {
    /// Number of the attempt that failed, counted from 1.
    pub attempt: u64,
    /// Number of attempts before the turn fails.
    pub max_attempts: u64,
    /// Milliseconds until the next attempt.
    pub delay_ms: f64,
    /// The HTTP status, if there was an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u64>,
    /// A word for the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A limit is near, or reached.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Limit {
    /// Name of the limit.
    pub kind: String,
    /// `true` if it is reached, `false` if it is near.
    pub reached: bool,
    /// Class of a limit of the service; absent for limits of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<LimitClass>,
    /// Time at which it is lifted, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<f64>,
    /// For people.
    pub text: String,
}

/// Kinds of limits of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitClass {
    /// Too much at once; it passes within minutes.
    Short,
    /// The paid allowance is used up until the reset.
    Quota,
}

/// Something is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Warning {
    /// A word a program can match.
    pub kind: String,
    /// For people.
    pub text: String,
}

/// A message of the engine that has no event of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Unknown {
    /// Its type and subtype.
    pub kind: String,
    /// The message as it is.
    pub message: Value,
}

/// The run is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RunCompleted {
    /// Outcome of the run.
    pub outcome: Outcome,
    /// Reason for a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The last answer, or what there is of it.
    pub text: String,
    /// The last value asked for by a schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Value>,
    /// The engine's id of the session, if it ever had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_session: Option<String>,
    /// Number of turns.
    pub turns: u32,
    /// Tokens of all turns.
    pub tokens: Tokens,
    /// Cost of this run in US dollars.
    pub cost_usd: f64,
    /// The end of what the engine wrote to stderr; only after a failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stderr: Vec<String>,
}

impl RunCompleted {
    /// A run that ended like this, of which nothing else is known.
    pub fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            failure: None,
            text: String::new(),
            structured_output: None,
            native_session: None,
            turns: 0,
            tokens: Tokens::default(),
            cost_usd: 0.0,
            stderr: Vec::new(),
        }
    }
}

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The last turn succeeded.
    Ok,
    /// It failed.
    Failed,
    /// Somebody stopped it.
    Cancelled,
}
