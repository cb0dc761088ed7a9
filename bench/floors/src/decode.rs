//! How much of a line is looked at.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::hint::black_box;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Only split lines.
    Split,
    /// The envelope borrowed, the payload left as it is.
    Lazy,
    /// A look at the type, then the matching struct.
    Peek,
    /// An enum that serde tags internally.
    Typed,
    /// `serde_json::Value`.
    Value,
}

impl Kind {
    pub(crate) fn from_arguments() -> Kind {
        match std::env::args().nth(2).as_deref() {
            Some("split") => Kind::Split,
            Some("lazy") => Kind::Lazy,
            Some("peek") => Kind::Peek,
            Some("typed") => Kind::Typed,
            Some("value") | None => Kind::Value,
            Some(other) => panic!("`{other}` is not a kind of floor"),
        }
    }

    /// Decodes as much as the kind says; true for a result.
    pub(crate) fn look_at(self, line: &[u8]) -> bool {
        match self {
            Kind::Split => false,
            Kind::Lazy => {
                let envelope: Envelope = read(line);
                black_box((
                    envelope.message.map(RawValue::get),
                    envelope.event.map(RawValue::get),
                ));
                envelope.kind == "result"
            }
            Kind::Peek => peek(line),
            Kind::Typed => matches!(black_box(read::<Message>(line)), Message::Result(_)),
            Kind::Value => read::<serde_json::Value>(line)["type"] == "result",
        }
    }
}

fn read<'a, T: Deserialize<'a>>(line: &'a [u8]) -> T {
    serde_json::from_slice(line).expect("a line of the fake CLI")
}

fn peek(line: &[u8]) -> bool {
    const PREFIX: &[u8] = b"{\"type\":\"";
    let rest = line.strip_prefix(PREFIX).unwrap_or_default();
    if rest.starts_with(b"stream_event\"") {
        black_box(read::<StreamEvent>(line));
    } else if rest.starts_with(b"assistant\"") {
        black_box(read::<Assistant>(line));
    } else if rest.starts_with(b"user\"") {
        black_box(read::<User>(line));
    } else if rest.starts_with(b"system\"") {
        black_box(read::<System>(line));
    } else {
        return black_box(read::<Outcome>(line)).kind.as_deref() == Some("result");
    }
    false
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "decoded to be timed, not to be read")]
enum Message {
    System(System),
    StreamEvent(StreamEvent),
    Assistant(Assistant),
    User(User),
    Result(Outcome),
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "decoded to be timed, not to be read")]
struct System {
    subtype: String,
    session_id: String,
    uuid: Option<String>,
    model: Option<String>,
    tools: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "decoded to be timed, not to be read")]
struct StreamEvent {
    event: Event,
    session_id: String,
    parent_tool_use_id: Option<String>,
    uuid: String,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "decoded to be timed, not to be read")]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    index: Option<u64>,
    delta: Option<Delta>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "decoded to be timed, not to be read")]
struct Delta {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "decoded to be timed, not to be read")]
struct Assistant {
    message: AssistantMessage,
    parent_tool_use_id: Option<String>,
    session_id: String,
    uuid: String,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "decoded to be timed, not to be read")]
struct AssistantMessage {
    id: String,
    model: String,
    role: String,
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "decoded to be timed, not to be read")]
struct Usage {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "decoded to be timed, not to be read")]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    tool_use_id: Option<String>,
    content: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "decoded to be timed, not to be read")]
struct User {
    message: UserMessage,
    parent_tool_use_id: Option<String>,
    session_id: String,
    uuid: String,
    timestamp: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "decoded to be timed, not to be read")]
struct UserMessage {
    role: String,
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Outcome {
    /// Not there when the enum has taken it.
    #[serde(rename = "type")]
    kind: Option<String>,
    #[expect(dead_code, reason = "decoded to be timed, not to be read")]
    subtype: String,
    #[expect(dead_code, reason = "decoded to be timed, not to be read")]
    session_id: String,
    #[expect(dead_code, reason = "decoded to be timed, not to be read")]
    is_error: bool,
    #[expect(dead_code, reason = "decoded to be timed, not to be read")]
    result: Option<String>,
    #[expect(dead_code, reason = "decoded to be timed, not to be read")]
    usage: Option<Usage>,
}
