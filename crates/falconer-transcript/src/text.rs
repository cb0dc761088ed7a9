//! Decoding that takes the text it knows and forgives the rest.
//!
//! Transcripts are written by many versions of many programs: a field of an unexpected
//! type must cost that field, not the entry.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A string, borrowed where possible; anything else decodes to nothing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Option<Cow<'a, str>>);

impl Text<'_> {
    pub(crate) fn into_string(self) -> Option<String> {
        self.0.map(Cow::into_owned)
    }

    pub(crate) fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The text, unless it is empty or was none.
    pub(crate) fn non_empty(&self) -> Option<&str> {
        self.as_deref().filter(|text| !text.is_empty())
    }
}

/// Whether a value counts as true the way scripts see it: not null, false, zero or empty.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Truthy(pub(crate) bool);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

impl<'de> Deserialize<'de> for Truthy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TruthyVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Text<'de>, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| Text(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Text<'de>, A::Error> {
        IgnoredAny.visit_map(map).map(|_| Text(None))
    }
}

struct TruthyVisitor;

impl<'de> Visitor<'de> for TruthyVisitor {
    type Value = Truthy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Truthy, E> {
        Ok(Truthy(!text.is_empty()))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Truthy, E> {
        Ok(Truthy(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Truthy, E> {
        Ok(Truthy(value != 0))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Truthy, E> {
        Ok(Truthy(value != 0))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Truthy, E> {
        Ok(Truthy(value != 0.0))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Truthy, E> {
        Ok(Truthy(false))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Truthy, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| Truthy(true))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Truthy, A::Error> {
        IgnoredAny.visit_map(map).map(|_| Truthy(true))
    }
}

/// Calls a function with every top-level field of an object.
pub(crate) struct Fields<F>(F);

impl<F: FnMut(&str, Text<'_>)> Fields<F> {
    pub(crate) fn new(each: F) -> Self {
        Self(each)
    }
}

impl<'de, F: FnMut(&str, Text<'_>)> DeserializeSeed<'de> for Fields<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(&str, Text<'_>)> Visitor<'de> for Fields<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Text<'de>>()? {
            let value = map.next_value::<Text<'de>>()?;
            (self.0)(name.as_deref().unwrap_or_default(), value);
        }
        Ok(())
    }
}
