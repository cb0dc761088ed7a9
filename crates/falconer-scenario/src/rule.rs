//! One rule of a scenario: when, what, and how often.

use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::matcher::Matcher;
use super::reply::Reply;

/// A condition, a reply, and a number of uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Rule {
    /// Shown in error texts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Requests it is for; without it every request of the main conversation.
    #[serde(default, skip_serializing_if = "Matcher::is_any")]
    pub when: Matcher,
    /// Number of times it may be used; once unless said otherwise.
    #[serde(default, skip_serializing_if = "Times::is_once")]
    pub times: Times,
    /// Reply.
    pub reply: Reply,
}

impl Rule {
    /// A rule that is used once.
    pub fn new(when: Matcher, reply: impl Into<Reply>) -> Self {
        Self {
            name: String::new(),
            when,
            times: Times::ONCE,
            reply: reply.into(),
        }
    }
}

/// The number of times a rule may be used: a number in JSON, or `"always"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// So often.
    Count(u32),
    /// Without end.
    Always,
}

impl Times {
    /// Once, the default.
    pub const ONCE: Self = Self::Count(1);

    fn is_once(&self) -> bool {
        *self == Self::ONCE
    }

    /// Returns `true` if a rule that was used `used` times may be used again.
    pub(super) fn allow_after(self, used: u32) -> bool {
        match self {
            Self::Count(limit) => used < limit,
            Self::Always => true,
        }
    }
}

impl Default for Times {
    fn default() -> Self {
        Self::ONCE
    }
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_u32(*count),
            Self::Always => serializer.serialize_str("always"),
        }
    }
}

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TimesVisitor)
    }
}

struct TimesVisitor;

impl Visitor<'_> for TimesVisitor {
    type Value = Times;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number of times or \"always\"")
    }

    fn visit_u64<E: serde::de::Error>(self, count: u64) -> Result<Times, E> {
        u32::try_from(count)
            .map(Times::Count)
            .map_err(|_| E::invalid_value(Unexpected::Unsigned(count), &self))
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Times, E> {
        match word {
            "always" => Ok(Times::Always),
            other => Err(E::invalid_value(Unexpected::Str(other), &self)),
        }
    }
}
