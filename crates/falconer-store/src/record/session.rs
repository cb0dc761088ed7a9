//! Sessions.

use falconer_event::{Failure, RunId, Tokens};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{Fence, NodeId, SessionId};
use crate::time::Timestamp;

super::word_enum! {
    /// The activity of a session.
    SessionState {
        /// No process; it can be resumed.
        Idle = "idle",
        /// A turn is under way.
        Running = "running",
        /// The process is up and waits for a prompt.
        Ready = "ready",
        /// A permission or question is open.
        Waiting = "waiting",
        /// The server died or was stopped in the middle.
        Interrupted = "interrupted",
        /// It is over.
        Closed = "closed",
    }
}

super::word_enum! {
    /// The outcome of a turn.
    TurnOutcome {
        /// With an answer.
        Done = "done",
        /// Somebody stopped it.
        Stopped = "stopped",
        /// It failed, or its run did.
        Failed = "failed",
        /// The server died or was stopped in the middle.
        Interrupted = "interrupted",
    }
}

/// The end of the last turn of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct LastTurn {
    /// The number of the event that told of it.
    pub seq: u64,
    /// Outcome.
    pub outcome: TurnOutcome,
    /// Reason, unless it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

impl LastTurn {
    /// A turn that is done.
    pub fn done(seq: u64) -> Self {
        Self {
            seq,
            outcome: TurnOutcome::Done,
            failure: None,
        }
    }

    /// A turn that ended without an answer.
    pub fn without_answer(seq: u64, outcome: TurnOutcome, failure: Failure) -> Self {
        Self {
            seq,
            outcome,
            failure: Some(failure),
        }
    }
}

/// A session as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SessionRecord {
    /// Its name.
    pub id: SessionId,
    /// Title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Engine that runs it.
    pub engine: String,
    /// The model, if one was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The permission mode.
    pub mode: String,
    /// The working directory.
    pub cwd: String,
    /// Activity.
    pub state: SessionState,
    /// End of its last turn; missing before the first one has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_turn: Option<LastTurn>,
    /// Engine's own id of the conversation; needed to resume it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_session: Option<String>,
    /// The run under way; processes of it carry this mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The number of the last event; 0 before the first.
    pub head: u64,
    /// The session it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// Limits, isolation, options of the engine: whatever the layer above keeps.
    #[serde(default)]
    pub config: Value,
    /// Tokens used so far.
    pub tokens: Tokens,
    /// Cost of all turns in US dollars.
    pub cost_usd: f64,
    /// A person wants it on top.
    pub pinned: bool,
    /// A person wants it out of sight.
    pub archived: bool,
    /// Requests that wait for an answer.
    pub pending: u64,
    /// Process that runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<NodeId>,
    /// The fence of the last claim; 0 before the first.
    pub fence: Fence,
    /// Time of making.
    pub created_at: Timestamp,
    /// Time of the last change to anything in it.
    pub updated_at: Timestamp,
}

/// A session to be made. It starts `idle`, without events and without an owner.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewSession {
    /// Its name.
    pub id: SessionId,
    /// Title for people.
    pub title: Option<String>,
    /// Engine that runs it.
    pub engine: String,
    /// The model, if one was chosen.
    pub model: Option<String>,
    /// The permission mode.
    pub mode: String,
    /// The working directory.
    pub cwd: String,
    /// Engine's own id of the conversation, if it exists already.
    pub native_session: Option<String>,
    /// The session it is forked from.
    pub parent: Option<SessionId>,
    /// Whatever the layer above keeps.
    pub config: Value,
}

impl NewSession {
    /// A session with a new name in the mode `default`.
    pub fn new(engine: impl Into<String>, cwd: impl Into<String>) -> Self {
        Self {
            id: SessionId::generate(),
            title: None,
            engine: engine.into(),
            model: None,
            mode: "default".to_owned(),
            cwd: cwd.into(),
            native_session: None,
            parent: None,
            config: Value::Null,
        }
    }
}

/// A change to a session that anybody may make, live or not. A field that is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SessionPatch {
    /// `Some(None)` takes the title away.
    pub title: Option<Option<String>>,
    /// `Some(None)` leaves the choice to the engine.
    pub model: Option<Option<String>>,
    /// The permission mode.
    pub mode: Option<String>,
    /// On top or not.
    pub pinned: Option<bool>,
    /// Out of sight or not.
    pub archived: Option<bool>,
    /// Whatever the layer above keeps; replaced as a whole.
    pub config: Option<Value>,
    /// Changes nothing, and fails with `Held`, if a node other than this one has the session.
    pub unless_elsewhere: Option<NodeId>,
}

impl SessionPatch {
    /// Only if no node other than this one has the session.
    #[must_use]
    pub fn unless_elsewhere(mut self, node: NodeId) -> Self {
        self.unless_elsewhere = Some(node);
        self
    }

    /// Sets the title, or takes it away.
    #[must_use]
    pub fn title(mut self, title: Option<String>) -> Self {
        self.title = Some(title);
        self
    }

    /// Sets the model, or leaves it to the engine.
    #[must_use]
    pub fn model(mut self, model: Option<String>) -> Self {
        self.model = Some(model);
        self
    }

    /// Sets the permission mode.
    #[must_use]
    pub fn mode(mut self, mode: impl Into<String>) -> Self {
        self.mode = Some(mode.into());
        self
    }

    /// Puts it on top, or no longer.
    #[must_use]
    pub fn pinned(mut self, pinned: bool) -> Self {
        self.pinned = Some(pinned);
        self
    }

    /// Puts it out of sight, or back.
    #[must_use]
    pub fn archived(mut self, archived: bool) -> Self {
        self.archived = Some(archived);
        self
    }

    /// Replaces what the layer above keeps.
    #[must_use]
    pub fn config(mut self, config: Value) -> Self {
        self.config = Some(config);
        self
    }
}

/// A change that only the holder of the lease may make. A field that is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct LivePatch {
    /// Activity.
    pub state: Option<SessionState>,
    /// Engine's own id of the conversation.
    pub native_session: Option<String>,
    /// The run under way; `Some(None)` when there is none any more.
    pub run: Option<Option<RunId>>,
    /// The model the engine says it uses.
    pub model: Option<String>,
    /// The mode the engine says it is in.
    pub mode: Option<String>,
    /// Tokens of the whole session, not of the last turn.
    pub tokens: Option<Tokens>,
    /// Cost of the whole session.
    pub cost_usd: Option<f64>,
    /// The sandbox the last run really had; `sandbox` in the configuration.
    pub sandbox: Option<String>,
    /// End of the last turn.
    pub last_turn: Option<LastTurn>,
}

impl LivePatch {
    /// Sets the state.
    #[must_use]
    pub fn state(mut self, state: SessionState) -> Self {
        self.state = Some(state);
        self
    }

    /// Sets the engine's name of the conversation.
    #[must_use]
    pub fn native_session(mut self, id: impl Into<String>) -> Self {
        self.native_session = Some(id.into());
        self
    }

    /// Sets the run under way, or says there is none.
    #[must_use]
    pub fn run(mut self, run: Option<RunId>) -> Self {
        self.run = Some(run);
        self
    }

    /// Sets the model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the mode.
    #[must_use]
    pub fn mode(mut self, mode: impl Into<String>) -> Self {
        self.mode = Some(mode.into());
        self
    }

    /// Sets the sandbox the run really has.
    #[must_use]
    pub fn sandbox(mut self, words: impl Into<String>) -> Self {
        self.sandbox = Some(words.into());
        self
    }

    /// Sets how the last turn ended.
    #[must_use]
    pub fn last_turn(mut self, last: LastTurn) -> Self {
        self.last_turn = Some(last);
        self
    }

    /// Sets what was used so far.
    #[must_use]
    pub fn usage(mut self, tokens: Tokens, cost_usd: f64) -> Self {
        self.tokens = Some(tokens);
        self.cost_usd = Some(cost_usd);
        self
    }
}

/// The amounts in a store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Counts {
    /// Sessions in each state that has any.
    pub sessions: Vec<(SessionState, u64)>,
    /// Requests that wait for an answer.
    pub pending: u64,
    /// Messages that wait for their turn.
    pub queued: u64,
    /// Bytes of the database, its log included; 0 if it has no file.
    pub bytes: u64,
}
