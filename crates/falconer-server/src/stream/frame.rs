//! One thing a stream says, and how it is written.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use falconer_store::{InputRecord, SessionId, Timestamp};
use serde::Serialize;

use crate::api::{Request, Session};

/// One thing a stream says.
#[derive(Debug, Clone)]
pub(crate) enum Frame {
    /// What the stream begins with; JSON.
    Hello(String),
    /// A stored event, byte for byte.
    Event { seq: u64, json: String },
    /// A piece of a text under way; not stored.
    Delta(Arc<str>),
    /// A session as it is now; JSON.
    Session(String),
    /// A request as it is now; JSON.
    Request(String),
    /// A session was deleted; JSON.
    Gone(String),
    /// A sign of life; JSON.
    Ping(String),
}

/// What a stream of a session begins with.
#[derive(Debug, Serialize)]
pub(crate) struct Hello<'a> {
    pub(crate) resume: Resume,
    /// The number after which events follow.
    pub(crate) after: u64,
    /// The number of the last event there is.
    pub(crate) head: u64,
    pub(crate) session: &'a Session,
    /// Open requests.
    pub(crate) pending: Vec<Request>,
    /// Queued messages.
    pub(crate) queue: Vec<InputRecord>,
}

/// How a stream goes on from what the client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Resume {
    /// The client has nothing.
    Fresh,
    /// It goes on where the client was.
    Resumed,
    /// The client has events this server never had: forget them, all follow.
    Gap,
}

impl Frame {
    pub(crate) fn ping() -> Self {
        Self::Ping(format!("{{\"time\":\"{}\"}}", Timestamp::now()))
    }

    pub(crate) fn gone(session: &SessionId) -> Self {
        let id = serde_json::Value::from(session.as_str());
        Self::Gone(format!("{{\"id\":{id}}}"))
    }

    fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Hello(json) => ("hello", json),
            Self::Event { json, .. } => ("event", json),
            Self::Delta(json) => ("delta", json),
            Self::Session(json) => ("session", json),
            Self::Request(json) => ("request", json),
            Self::Gone(json) => ("gone", json),
            Self::Ping(json) => ("ping", json),
        }
    }

    /// As a server-sent event. Our JSON has no line breaks, so one `data` line is enough.
    fn write_sse(&self, out: &mut BytesMut) {
        let (name, json) = self.parts();
        if let Self::Event { seq, .. } = self {
            out.put_slice(format!("id: {seq}\n").as_bytes());
        }
        out.put_slice(b"event: ");
        out.put_slice(name.as_bytes());
        for line in json.split(['\n', '\r']) {
            out.put_slice(b"\ndata: ");
            out.put_slice(line.as_bytes());
        }
        out.put_slice(b"\n\n");
    }

    /// As a message of a WebSocket.
    pub(crate) fn message(&self, session: Option<&SessionId>) -> String {
        let (name, json) = self.parts();
        let mut out = String::with_capacity(json.len() + 100);
        out.push_str("{\"frame\":\"");
        out.push_str(name);
        out.push('"');
        if let Some(session) = session {
            out.push_str(",\"session\":");
            out.push_str(&serde_json::Value::from(session.as_str()).to_string());
        }
        if let Self::Event { seq, .. } = self {
            out.push_str(&format!(",\"seq\":{seq}"));
        }
        out.push_str(",\"data\":");
        out.push_str(json);
        out.push('}');
        out
    }
}

/// Some frames as server-sent events.
pub(crate) fn sse(frames: &[Frame]) -> Bytes {
    let size: usize = frames.iter().map(|frame| frame.parts().1.len() + 40).sum();
    let mut out = BytesMut::with_capacity(size);
    for frame in frames {
        frame.write_sse(&mut out);
    }
    out.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_written_as_both_transports_want_them() {
        let event = Frame::Event {
            seq: 7,
            json: r#"{"a":"é"}"#.to_owned(),
        };
        assert_eq!(
            sse(std::slice::from_ref(&event)),
            "id: 7\nevent: event\ndata: {\"a\":\"é\"}\n\n"
        );
        assert_eq!(
            event.message(Some(&"s".into())),
            r#"{"frame":"event","session":"s","seq":7,"data":{"a":"é"}}"#
        );
        // Should a line break ever get there, it cannot end the frame.
        let broken = Frame::Delta("a\n\nevent: x".into());
        let text = sse(&[broken]);
        assert_eq!(text, "event: delta\ndata: a\ndata: \ndata: event: x\n\n");
    }
}
