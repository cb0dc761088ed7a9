//! The sort of a line of the host: enough to compare it with the recorded one.

use std::fmt;

use serde_json::Value;

use crate::END_OF_INPUT;

/// The sort of a line from the host; ids the host chooses are not part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostKind {
    /// A `control_request` with this subtype.
    Request(String),
    /// A `control_response` to the engine's request of this id.
    Response { outcome: String, to: String },
    /// Any other object, by its type.
    Message(String),
    /// JSON that is not an object.
    Scalar,
    /// Not JSON.
    Text,
    /// White space.
    Blank,
    /// The end of the input.
    End,
}

impl HostKind {
    /// The sort of a line as it stands in a cassette.
    pub(crate) fn of_recorded(line: &Value) -> Self {
        match line {
            Value::String(text) if text == END_OF_INPUT => Self::End,
            Value::String(text) => Self::of_line(text.as_bytes()).0,
            json => Self::of_json(json),
        }
    }

    /// The sort of a line as it arrives, and the line read.
    pub(crate) fn of_line(line: &[u8]) -> (Self, Value) {
        if line.trim_ascii().is_empty() {
            return (Self::Blank, Value::Null);
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(json) => (Self::of_json(&json), json),
            Err(_) => (Self::Text, Value::Null),
        }
    }

    fn of_json(json: &Value) -> Self {
        let word = |value: &Value| value.as_str().unwrap_or("(none)").to_owned();
        match (json.is_object(), json["type"].as_str()) {
            (false, _) => Self::Scalar,
            (true, Some("control_request")) => Self::Request(word(&json["request"]["subtype"])),
            (true, Some("control_response")) => Self::Response {
                outcome: word(&json["response"]["subtype"]),
                to: word(&json["response"]["request_id"]),
            },
            (true, _) => Self::Message(word(&json["type"])),
        }
    }
}

impl fmt::Display for HostKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(subtype) => write!(f, "control_request {subtype}"),
            Self::Response { outcome, to } => write!(f, "control_response {outcome} to {to}"),
            Self::Message(kind) => write!(f, "message {kind}"),
            Self::Scalar => f.write_str("JSON that is not an object"),
            Self::Text => f.write_str("text that is not JSON"),
            Self::Blank => f.write_str("a blank line"),
            Self::End => f.write_str("the end of input"),
        }
    }
}
