//! The requests that a rule is for.

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::request::{ModelRequest, RequestKind};

/// One thing that must hold of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Condition {
    /// It is the so-manieth request of its kind, counted from 1.
    Call(u32),
    /// It is of this kind. Without this condition only [`RequestKind::Main`] matches.
    Kind(RequestKind),
    /// The text of the last user message contains this.
    LastUserContains(String),
    /// A text block of the last user message is this, white space around it aside.
    LastUserEquals(String),
    /// The last user message holds the result of this tool call.
    ToolResultFor(String),
    /// The last user message holds a tool result with this text in it.
    ToolResultContains(String),
    /// It asks for exactly this model.
    Model(String),
    /// It asks for a stream, or does not.
    Stream(bool),
    /// The system prompt contains this.
    SystemContains(String),
    /// A header has a value that contains a text.
    Header {
        /// Its name, in any case.
        name: String,
        /// Part of its value; empty for any value.
        contains: String,
    },
    /// The model may call the tool of this name.
    ToolAvailable(String),
    /// This matcher does not match.
    Not(Matcher),
    /// One of these matches.
    AnyOf(Vec<Matcher>),
}

impl Condition {
    fn holds(&self, request: &ModelRequest, kind: RequestKind, call: u32) -> bool {
        match self {
            Self::Call(wanted) => *wanted == call,
            Self::Kind(wanted) => *wanted == kind,
            Self::LastUserContains(text) => request.last_user_texts().join("\n").contains(text),
            Self::LastUserEquals(text) => request
                .last_user_texts()
                .iter()
                .any(|block| block.trim() == text.trim()),
            Self::ToolResultFor(id) => request.tool_results().iter().any(|r| r.tool_use_id == *id),
            Self::ToolResultContains(text) => {
                request.tool_results().iter().any(|r| r.text.contains(text))
            }
            Self::Model(name) => request.model() == name,
            Self::Stream(wanted) => request.streams() == *wanted,
            Self::SystemContains(text) => request.system_text().contains(text),
            Self::Header { name, contains } => request
                .header(name)
                .is_some_and(|value| value.contains(contains)),
            Self::ToolAvailable(name) => request.tool_names().contains(&name.as_str()),
            Self::Not(matcher) => !matcher.all_hold(request, kind, call),
            Self::AnyOf(matchers) => matchers.iter().any(|m| m.all_hold(request, kind, call)),
        }
    }
}

/// Conditions that must all hold; none at all means any request of the main conversation.
///
/// In JSON an object with one key for each condition: `{"last_user_contains": "list",
/// "stream": true}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matcher {
    conditions: Vec<Condition>,
}

impl Matcher {
    /// Both this and the other must match.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.conditions.extend(other.conditions);
        self
    }

    /// The conditions, in the order given.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Returns `true` if the request, the `call`th of its kind, is one this matcher is for.
    pub fn matches(&self, request: &ModelRequest, kind: RequestKind, call: u32) -> bool {
        let kind_fits = kind == RequestKind::Main || self.names_kind();
        kind_fits && self.all_hold(request, kind, call)
    }

    pub(super) fn is_any(&self) -> bool {
        self.conditions.is_empty()
    }

    fn all_hold(&self, request: &ModelRequest, kind: RequestKind, call: u32) -> bool {
        self.conditions
            .iter()
            .all(|condition| condition.holds(request, kind, call))
    }

    fn names_kind(&self) -> bool {
        self.conditions.iter().any(|condition| match condition {
            Condition::Kind(_) => true,
            Condition::AnyOf(matchers) => matchers.iter().any(Self::names_kind),
            _ => false,
        })
    }
}

impl From<Condition> for Matcher {
    fn from(condition: Condition) -> Self {
        Self {
            conditions: vec![condition],
        }
    }
}

impl Serialize for Matcher {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.conditions.len()))?;
        for condition in &self.conditions {
            let value = serde_json::to_value(condition).map_err(S::Error::custom)?;
            let Value::Object(single) = value else {
                return Err(S::Error::custom("a condition is not an object"));
            };
            for (key, value) in single {
                map.serialize_entry(&key, &value)?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Matcher {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MatcherVisitor)
    }
}

struct MatcherVisitor;

impl<'de> Visitor<'de> for MatcherVisitor {
    type Value = Matcher;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object of conditions")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Matcher, A::Error> {
        let mut conditions = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            let single = Value::Object(Map::from_iter([(key, value)]));
            conditions.push(Condition::deserialize(single).map_err(A::Error::custom)?);
        }
        Ok(Matcher { conditions })
    }
}

/// Any request of the main conversation.
pub fn any() -> Matcher {
    Matcher::default()
}

/// The `call`th request of the main conversation, counted from 1.
pub fn nth(call: u32) -> Matcher {
    Condition::Call(call).into()
}

/// Requests of this kind, instead of the main conversation.
pub fn on_kind(kind: RequestKind) -> Matcher {
    Condition::Kind(kind).into()
}

/// The text of the last user message contains this.
pub fn last_user_contains(text: impl Into<String>) -> Matcher {
    Condition::LastUserContains(text.into()).into()
}

/// A text block of the last user message is this.
pub fn last_user_equals(text: impl Into<String>) -> Matcher {
    Condition::LastUserEquals(text.into()).into()
}

/// The last user message holds the result of this tool call.
pub fn tool_result_for(id: impl Into<String>) -> Matcher {
    Condition::ToolResultFor(id.into()).into()
}

/// The last user message holds a tool result with this text in it.
pub fn tool_result_contains(text: impl Into<String>) -> Matcher {
    Condition::ToolResultContains(text.into()).into()
}

/// The request is for exactly this model.
pub fn model(name: impl Into<String>) -> Matcher {
    Condition::Model(name.into()).into()
}

/// The request asks for a stream.
pub fn streaming() -> Matcher {
    Condition::Stream(true).into()
}

/// The request does not ask for a stream.
pub fn not_streaming() -> Matcher {
    Condition::Stream(false).into()
}

/// The system prompt contains this.
pub fn system_contains(text: impl Into<String>) -> Matcher {
    Condition::SystemContains(text.into()).into()
}

/// A header's value contains this.
pub fn header(name: impl Into<String>, contains: impl Into<String>) -> Matcher {
    let (name, contains) = (name.into(), contains.into());
    Condition::Header { name, contains }.into()
}

/// The model may call the tool of this name.
pub fn tool_available(name: impl Into<String>) -> Matcher {
    Condition::ToolAvailable(name.into()).into()
}

/// The other does not match.
pub fn not(matcher: Matcher) -> Matcher {
    Condition::Not(matcher).into()
}
