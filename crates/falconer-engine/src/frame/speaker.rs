//! Stamps frames with the session and an id of their own, and sends them.

use std::sync::{Arc, Mutex, PoisonError};

use falconer_protocol::{MessageUuid, SessionId};
use falconer_secret::Environment;
use serde_json::{Map, Value, json};

use super::Outbox;

/// Speaks for one session. Cheap to clone; all clones speak for the same one.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    outbox: Outbox,
    session: Arc<Mutex<SessionId>>,
    states: StateEvents,
}

/// Whether `session_state_changed` is wanted, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StateEvents {
    Off,
    /// `CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS`.
    On,
    /// `CLAUDE_CODE_SDK_READS_SESSION_STATE`: marked as meant for the host's library alone.
    HostOnly,
}

impl StateEvents {
    pub(crate) fn of(environment: &Environment) -> Self {
        if environment.is_on("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") {
            Self::On
        } else if environment.is_on("CLAUDE_CODE_SDK_READS_SESSION_STATE") {
            Self::HostOnly
        } else {
            Self::Off
        }
    }
}

impl Speaker {
    pub(crate) fn new(outbox: Outbox, session: SessionId, states: StateEvents) -> Self {
        Self {
            outbox,
            session: Arc::new(Mutex::new(session)),
            states,
        }
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    pub(crate) fn session_id(&self) -> SessionId {
        let session = self.session.lock();
        session.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on frames belong to another session: the conversation was cleared.
    pub(crate) fn rename(&self, session: SessionId) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session;
    }

    /// Sends a frame under a new id.
    pub(crate) async fn say(&self, frame: Value) -> MessageUuid {
        let uuid = new_uuid();
        self.say_as(frame, &uuid).await;
        uuid
    }

    /// Sends a frame under an id that is already known elsewhere.
    pub(crate) async fn say_as(&self, frame: Value, uuid: &MessageUuid) {
        let mut frame = into_map(frame);
        frame.insert("session_id".to_owned(), json!(self.session_id()));
        frame.insert("uuid".to_owned(), json!(uuid));
        self.outbox.send(&frame).await;
    }

    /// Sends a frame that belongs to no session: answers to control requests.
    pub(crate) async fn reply(&self, frame: &Value) {
        self.outbox.send(frame).await;
    }

    pub(crate) async fn state(&self, state: &str) {
        let frame = match self.states {
            StateEvents::Off => return,
            StateEvents::On => super::system::session_state(state),
            StateEvents::HostOnly => {
                let mut frame = into_map(super::system::session_state(state));
                frame.insert("sdk_host_only".to_owned(), Value::Bool(true));
                Value::Object(frame)
            }
        };
        self.say(frame).await;
    }
}

/// A fresh id for a line.
pub(crate) fn new_uuid() -> MessageUuid {
    MessageUuid::new(uuid::Uuid::new_v4().to_string())
}

fn into_map(frame: Value) -> Map<String, Value> {
    match frame {
        Value::Object(map) => map,
        other => {
            tracing::error!(%other, "bug: a frame is no object");
            Map::new()
        }
    }
}
