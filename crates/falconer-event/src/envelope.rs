//! The envelope of every event: its number, its time, its place.

use falconer_protocol::ToolUseId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::body::Body;
use crate::id::{RunId, TurnNumber};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Event {
    /// Per session, from 1, without gaps. A delta repeats the number of the event before it.
    pub seq: u64,
    /// Time of recording, in RFC 3339.
    pub time: String,
    /// The session, by the name Falconer gave it.
    pub session: String,
    /// The run.
    pub run: RunId,
    /// The turn, if one was under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnNumber>,
    /// Party that made it happen.
    pub source: Source,
    /// The tool call whose sub-agent spoke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub parent: Option<ToolUseId>,
    /// Event itself.
    #[serde(flatten)]
    pub body: Body,
    /// The message of the engine, on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
}

/// Read by hand: the derived reader of flattened fields has useless errors.
impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let body = json!({"type": stored.kind, "data": stored.data});
        Ok(Self {
            seq: stored.seq,
            time: stored.time,
            session: stored.session,
            run: stored.run,
            turn: stored.turn,
            source: stored.source,
            parent: stored.parent,
            body: serde_json::from_value(body).map_err(serde::de::Error::custom)?,
            raw: stored.raw,
        })
    }
}

#[derive(Deserialize)]
struct Stored {
    seq: u64,
    time: String,
    session: String,
    run: RunId,
    #[serde(default)]
    turn: Option<TurnNumber>,
    source: Source,
    #[serde(default)]
    parent: Option<ToolUseId>,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    data: Value,
    #[serde(default)]
    raw: Option<Value>,
}

/// The party that made something happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The agent.
    Agent,
    /// A person or program that uses it.
    User,
    /// Falconer itself.
    Falconer,
}

/// An event before it has a number and a time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Draft {
    /// The turn, if one was under way.
    pub turn: Option<TurnNumber>,
    /// Party that made it happen.
    pub source: Source,
    /// The tool call whose sub-agent spoke.
    pub parent: Option<ToolUseId>,
    /// Event itself.
    pub body: Body,
}

impl Draft {
    /// Something that belongs to no turn.
    pub fn new(source: Source, body: Body) -> Self {
        Self {
            turn: None,
            source,
            parent: None,
            body,
        }
    }
}

/// Numbers the events of a session.
#[derive(Debug, Clone)]
pub struct Sequence {
    session: String,
    last: u64,
}

impl Sequence {
    /// The first event gets the number 1.
    pub fn new(session: impl Into<String>) -> Self {
        Self::after(session, 0)
    }

    /// Goes on after the event with the number `last`.
    pub fn after(session: impl Into<String>, last: u64) -> Self {
        Self {
            session: session.into(),
            last,
        }
    }

    /// The number of the last event.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Puts a draft into its envelope. What is ephemeral takes no number: it has that of the
    /// last event that has one.
    pub fn stamp(&mut self, run: &RunId, time: impl Into<String>, draft: Draft) -> Event {
        if !draft.body.is_ephemeral() {
            self.last += 1;
        }
        Event {
            seq: self.last,
            time: time.into(),
            session: self.session.clone(),
            run: run.clone(),
            turn: draft.turn,
            source: draft.source,
            parent: draft.parent,
            body: draft.body,
            raw: None,
        }
    }
}
