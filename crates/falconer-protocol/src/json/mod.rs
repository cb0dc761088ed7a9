//! A fast reader of JSON text for well-formed lines.
//!
//! It does what serde_json does, for text that is known to be UTF-8 as a whole and in memory as
//! a whole: nothing is copied on the way into a field, and a string with escapes is put together
//! once, in the allocation it will live in. What it refuses is looked at again by serde_json,
//! which is slower and says precisely what is wrong.

mod access;
mod number;
mod text;

use std::borrow::Cow;

use serde::de::{Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Result};

use crate::wire::refusal;
use access::Elements;
pub(crate) use access::Members;

/// Limit on the nesting of arrays and objects, as in serde_json.
const DEPTH: u8 = 127;

/// Number of names to try before a string is read and looked up.
const GUESSES: usize = 4;

/// Reads one value, which has to be all of the text but for white space.
pub(crate) fn read<'de, T, F>(text: &'de str, read: F) -> Result<T>
where
    F: FnOnce(&mut Reader<'de>) -> Result<T>,
{
    let mut reader = Reader {
        text,
        at: 0,
        depth: DEPTH,
    };
    let value = read(&mut reader).map_err(|error| reader.locate(&error))?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.locate(&reader.unexpected("the end of the line"))),
    }
}

/// A position in JSON text.
#[derive(Debug)]
pub(crate) struct Reader<'de> {
    text: &'de str,
    at: usize,
    depth: u8,
}

impl<'de> Reader<'de> {
    /// The next byte that is not white space.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Steps over `byte`, which has to be the next one.
    #[inline]
    fn expect(&mut self, byte: u8, name: &str) -> Result<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.unexpected(name))
    }

    #[inline]
    fn literal(&mut self, literal: &str) -> Result<()> {
        if self.text.as_bytes()[self.at..].starts_with(literal.as_bytes()) {
            self.at += literal.len();
            return Ok(());
        }
        Err(self.unexpected(literal))
    }

    /// Goes into an array or object for as long as `inside` takes.
    #[inline]
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == 0 {
            return Err(Error::custom("recursion limit exceeded"));
        }
        self.at += 1;
        self.depth -= 1;
        let value = inside(self)?;
        self.depth += 1;
        Ok(value)
    }

    /// Steps over a `null`, if there is one.
    #[inline]
    pub(crate) fn is_null(&mut self) -> Result<bool> {
        match self.peek() {
            Some(b'n') => self.literal("null").map(|()| true),
            _ => Ok(false),
        }
    }

    /// Reads a string; `None` if something else is here.
    #[inline]
    pub(crate) fn text(&mut self) -> Result<Option<Cow<'de, str>>> {
        match self.peek() {
            Some(b'"') => text::string(self).map(Some),
            _ => Ok(None),
        }
    }

    /// Steps over a string that is one of the first few of `names`, without looking for its end.
    #[inline]
    pub(crate) fn guess(&mut self, names: &[&str]) -> Option<usize> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let rest = &self.text.as_bytes()[self.at + 1..];
        let is_here = |name: &&str| {
            rest.get(name.len()) == Some(&b'"') && rest[..name.len()] == *name.as_bytes()
        };
        let index = names.iter().take(GUESSES).position(is_here)?;
        self.at += names[index].len() + 2;
        Some(index)
    }

    /// Reads an object, all of whose members `inside` has to take.
    #[inline]
    pub(crate) fn object<T>(
        &mut self,
        expected: &'static str,
        inside: impl FnOnce(&mut Members<'_, 'de>) -> Result<T>,
    ) -> Result<T> {
        if self.peek() != Some(b'{') {
            return Err(self.misfit(expected));
        }
        self.nested(|reader| {
            let value = inside(&mut Members::new(reader))?;
            reader.expect(b'}', "the end of the object")?;
            Ok(value)
        })
    }

    /// Reads an array with `element`; returns `false` if something else is here.
    pub(crate) fn list(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<bool> {
        if self.peek() != Some(b'[') {
            return Ok(false);
        }
        self.nested(|reader| {
            let mut elements = Elements::new(reader);
            while let Some(reader) = elements.next()? {
                element(reader)?;
            }
            reader.expect(b']', "the end of the array")?;
            Ok(true)
        })
    }

    /// Returns the error that the value here is not what was `expected`.
    #[cold]
    pub(crate) fn misfit(&mut self, expected: &'static str) -> Error {
        refusal(self, expected)
    }

    #[inline]
    fn visit_text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match text::string(self)? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn visit_array<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.nested(|reader| {
            let value = visitor.visit_seq(Elements::new(reader))?;
            reader.expect(b']', "the end of the array")?;
            Ok(value)
        })
    }

    #[cold]
    fn unexpected(&self, expected: &str) -> Error {
        Error::custom(format_args!("expected {expected}"))
    }

    /// Adds the position to an error, in the words of serde_json.
    #[cold]
    fn locate(&self, error: &Error) -> Error {
        Error::custom(format_args!("{error} at line 1 column {}", self.at))
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek() {
            Some(b'"') => self.visit_text(visitor),
            Some(b'{') => self.object("a map", |members| visitor.visit_map(members)),
            Some(b'[') => self.visit_array(visitor),
            Some(b'-' | b'0'..=b'9') => number::visit(self, visitor),
            Some(b'n') => self.literal("null").and_then(|()| visitor.visit_unit()),
            Some(b't') => self.literal("true").and_then(|()| visitor.visit_bool(true)),
            Some(b'f') => self
                .literal("false")
                .and_then(|()| visitor.visit_bool(false)),
            _ => Err(self.unexpected("a value")),
        }
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek() {
            Some(b'"') => self.visit_text(visitor),
            _ => visit_misfit(self, visitor),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek() {
            Some(b'n') => self.literal("null").and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Lets the visitor say what it wanted instead of the value that is there.
#[cold]
#[inline(never)]
fn visit_misfit<'de, V: Visitor<'de>>(reader: &mut Reader<'de>, visitor: V) -> Result<V::Value> {
    reader.deserialize_any(visitor)
}

#[cfg(test)]
mod tests;
