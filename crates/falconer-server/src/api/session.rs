//! Sessions, as the API shows them.

use falconer_event::{Event, Tokens};
use falconer_hub::{SessionIsolation, SessionLimits, SessionOptions};
use falconer_store::{LastTurn, SessionId, SessionRecord, SessionState, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::message::SendMessage;

/// A session as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    pub(crate) engine: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The permission mode.
    pub(crate) mode: String,
    /// Where it works.
    pub(crate) cwd: String,
    pub(crate) state: SessionState,
    /// How its last turn ended; missing before the first one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_turn: Option<LastTurn>,
    /// What the engine calls the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) native_session: Option<String>,
    /// The number of the last event; 0 before the first.
    pub(crate) head: u64,
    /// The session it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<SessionId>,
    /// What each run may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limits: Option<SessionLimits>,
    /// How it is kept apart from the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) isolation: Option<SessionIsolation>,
    /// How its runs are started, where that was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) options: Option<SessionOptions>,
    /// The profile of the server its runs are started with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<String>,
    /// What the sandbox of the last run was seen to do; missing before the first start, and for a
    /// session that is not kept apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<String>,
    pub(crate) tokens: Tokens,
    pub(crate) cost_usd: f64,
    pub(crate) pinned: bool,
    pub(crate) archived: bool,
    /// How many requests wait for an answer.
    pub(crate) pending: u64,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    /// Where it is found, from the root of this server.
    pub(crate) url: String,
}

impl From<SessionRecord> for Session {
    fn from(record: SessionRecord) -> Self {
        let limits = record.config.get("limits").cloned();
        let isolation = SessionIsolation::of(&record.config).ok();
        let options = SessionOptions::of(&record.config).ok();
        let profile = record.config.get("profile").and_then(Value::as_str);
        let profile = profile.map(str::to_owned);
        let sandbox = record.config.get("sandbox").and_then(Value::as_str);
        Self {
            url: format!("/v1/sessions/{}", record.id),
            id: record.id,
            title: record.title,
            engine: record.engine,
            model: record.model,
            mode: record.mode,
            cwd: record.cwd,
            state: record.state,
            last_turn: record.last_turn,
            native_session: record.native_session,
            head: record.head,
            parent: record.parent,
            limits: limits.and_then(|limits| serde_json::from_value(limits).ok()),
            isolation: isolation.filter(|isolation| !isolation.is_none()),
            options: options.filter(|options| !options.is_empty()),
            sandbox: sandbox.map(str::to_owned),
            profile,
            tokens: record.tokens,
            cost_usd: record.cost_usd,
            pinned: record.pinned,
            archived: record.archived,
            pending: record.pending,
            created_at: record.created_at,
            updated_at: record.updated_at,
        }
    }
}

impl Session {
    /// Without what changes with every event.
    pub(crate) fn face(&self) -> Self {
        let mut face = self.clone();
        face.head = 0;
        face.updated_at = face.created_at;
        face
    }
}

/// Some sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionList {
    /// The one that changed last first.
    pub(crate) sessions: Vec<Session>,
    /// The `cursor` of the next page; missing on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// A session to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateSession {
    /// A UUID of your choice; one is made otherwise.
    #[serde(default)]
    pub(crate) id: Option<String>,
    /// What people call it.
    #[serde(default)]
    pub(crate) title: Option<String>,
    /// `auto`, or a name from `/v1/engines`.
    #[serde(default)]
    pub(crate) engine: Option<String>,
    #[serde(default)]
    pub(crate) model: Option<String>,
    /// Where it works: an absolute path below a root.
    pub(crate) cwd: String,
    /// The permission mode; `default` asks.
    #[serde(default)]
    pub(crate) mode: Option<String>,
    /// What each run may take.
    #[serde(default)]
    pub(crate) limits: Option<SessionLimits>,
    /// How it is kept apart from the machine, at every start; not at all unless said. What cannot
    /// be had is refused.
    #[serde(default)]
    pub(crate) isolation: Option<SessionIsolation>,
    /// How its runs are started, at every start. An engine refuses what it does not have where
    /// leaving it out would allow more, and warns otherwise.
    #[serde(default)]
    pub(crate) options: Option<SessionOptions>,
    /// A profile of the server: a configuration its owner lets sessions choose. The only way to
    /// servers, plugins, accounts and addresses.
    #[serde(default)]
    pub(crate) profile: Option<String>,
    /// The first message.
    #[serde(default)]
    pub(crate) message: Option<SendMessage>,
}

/// What is to be different; what is missing stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeSession {
    #[serde(default)]
    pub(crate) title: Option<String>,
    #[serde(default)]
    pub(crate) model: Option<String>,
    #[serde(default)]
    pub(crate) mode: Option<String>,
    #[serde(default)]
    pub(crate) pinned: Option<bool>,
    #[serde(default)]
    pub(crate) archived: Option<bool>,
}

/// Where to fork.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkSession {
    /// The number of the last event, to be sure that nothing happened meanwhile.
    #[serde(default)]
    pub(crate) at: Option<u64>,
    #[serde(default)]
    pub(crate) title: Option<String>,
}

/// Some events of a session, in order, byte for byte as they are stored.
#[derive(Debug, JsonSchema)]
#[expect(
    dead_code,
    reason = "only its schema is used: the events are sent as they are stored"
)]
pub(crate) struct EventList {
    pub(crate) events: Vec<Event>,
    /// The number of the last event there is.
    pub(crate) head: u64,
    /// Whether there are more after these.
    pub(crate) more: bool,
}
