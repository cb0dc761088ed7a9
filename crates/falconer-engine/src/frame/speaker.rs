//! Stamps frames with the session and an id of their own, and sends them.

use std::sync::{Arc, Mutex, PoisonError};

use falconer_protocol::control::ControlResponse;
use falconer_protocol::system::{SessionState, SessionStateChanged};
use falconer_protocol::{Message, MessageUuid, SessionId, ToolUseId};
use falconer_secret::Environment;

use super::Outbox;

/// Speaks for one agent of a session. Cheap to clone; all clones speak for the same one.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    outbox: Outbox,
    session: Arc<Mutex<SessionId>>,
    states: StateEvents,
    /// The tool call that the agent works for; the main one works for none.
    parent: Option<ToolUseId>,
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
            parent: None,
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
    pub(crate) async fn say(&self, frame: impl Into<Message> + Send) -> MessageUuid {
        let uuid = new_uuid();
        self.say_as(frame, &uuid).await;
        uuid
    }

    /// Sends a frame under an id that is already known elsewhere.
    pub(crate) async fn say_as(&self, frame: impl Into<Message> + Send, uuid: &MessageUuid) {
        self.send(frame.into(), uuid.clone()).await;
    }

    async fn send(&self, frame: Message, uuid: MessageUuid) {
        let frame = frame.stamped(self.session_id(), uuid, self.parent.as_ref());
        self.outbox.send(&frame).await;
    }

    /// Sends a frame that belongs to no session: answers to control requests.
    pub(crate) async fn reply(&self, answer: &ControlResponse) {
        self.outbox.send(answer).await;
    }

    /// Says what the session does, to hosts that want to know.
    pub(crate) async fn state(&self, state: SessionState) {
        if self.states == StateEvents::Off {
            return;
        }
        self.say(SessionStateChanged {
            state,
            sdk_host_only: (self.states == StateEvents::HostOnly).then_some(true),
            ..SessionStateChanged::default()
        })
        .await;
    }
}

/// A fresh id for a line.
pub(crate) fn new_uuid() -> MessageUuid {
    MessageUuid::new(uuid::Uuid::new_v4().to_string())
}

#[cfg(test)]
mod tests {
    use falconer_protocol::message::UserMessage;
    use serde_json::Value;

    use super::*;

    #[tokio::test]
    async fn lines_of_a_sub_agent_name_the_call_it_belongs_to() {
        let (outbox, mut lane) = Outbox::new();
        let main = Speaker::new(outbox, "s".into(), StateEvents::Off);
        let below = Speaker {
            parent: Some("toolu_1".into()),
            ..main.clone()
        };
        for (speaker, parent) in [(main, Value::Null), (below, "toolu_1".into())] {
            let uuid = speaker.say(UserMessage::default()).await;
            let line = lane.recv().await.unwrap();
            let line: Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(line.get("parent_tool_use_id"), Some(&parent));
            assert_eq!(line["session_id"], "s");
            assert_eq!(line["uuid"], uuid.as_str());
        }
    }
}
