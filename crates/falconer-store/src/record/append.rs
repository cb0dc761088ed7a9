//! Events, and everything that changes together with them.

use crate::id::{Fence, MessageId, RequestId, SessionId};

use super::{DecisionRecord, InputState, LivePatch, NewRequest, RequestState};

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventRow {
    /// Its number.
    pub seq: u64,
    /// Its type, such as `turn.started`.
    pub kind: String,
    /// The JSON exactly as it was given.
    pub json: String,
}

/// An event to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewEvent {
    /// Its type.
    pub kind: String,
    /// The JSON exactly as it will be published.
    pub json: String,
}

impl NewEvent {
    /// An event of this type.
    pub fn new(kind: impl Into<String>, json: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            json: json.into(),
        }
    }
}

/// Events of one session and what they mean for its rows, stored together or not at all.
///
/// Because a request and the event that tells of it are one write, nobody ever sees one without
/// the other, whenever the power goes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Append {
    /// The session.
    pub session: SessionId,
    /// The caller's claim.
    pub fence: Fence,
    /// The number of the first event; the head of the session plus one.
    pub first_seq: u64,
    /// In order. May be empty.
    pub events: Vec<NewEvent>,
    /// Changes to the session.
    pub live: LivePatch,
    /// Requests these events ask.
    pub requests: Vec<NewRequest>,
    /// Answers these events tell of that were not given by `decide`: by a policy, by the engine.
    /// A request that is answered already keeps its answer.
    pub answers: Vec<(RequestId, DecisionRecord)>,
    /// Requests these events settle, and how. One that is settled already stays as it is.
    pub settled: Vec<(RequestId, RequestState)>,
    /// Messages these events move on. One that is further already stays as it is.
    pub inputs: Vec<(MessageId, InputState)>,
}

impl Append {
    /// Events and nothing else.
    pub fn new(session: SessionId, fence: Fence, first_seq: u64, events: Vec<NewEvent>) -> Self {
        Self {
            session,
            fence,
            first_seq,
            events,
            live: LivePatch::default(),
            requests: Vec::new(),
            answers: Vec::new(),
            settled: Vec::new(),
            inputs: Vec::new(),
        }
    }
}
