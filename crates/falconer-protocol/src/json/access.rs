//! The members of an object and the elements of an array, one after the other.

use std::borrow::Cow;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};
use serde_json::{Error, Result};

use super::Reader;

/// The position in a list, which decides if a comma is due.
#[derive(PartialEq)]
enum Place {
    First,
    Later,
}

/// The members of an object. Its end is left to the caller.
pub(crate) struct Members<'a, 'de> {
    reader: &'a mut Reader<'de>,
    place: Place,
}

impl<'a, 'de> Members<'a, 'de> {
    #[inline]
    pub(super) fn new(reader: &'a mut Reader<'de>) -> Self {
        let place = Place::First;
        Self { reader, place }
    }
}

impl<'de> Members<'_, 'de> {
    /// Goes to the next key; returns `false` at the end of the object.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<bool> {
        if self.reader.peek() == Some(b'}') {
            return Ok(false);
        }
        if self.place == Place::Later {
            self.reader.expect(b',', "a comma")?;
        }
        self.place = Place::Later;
        Ok(true)
    }

    /// Steps over the key if it is the first or one of the next few of `names`.
    #[inline]
    pub(crate) fn guess(&mut self, names: &[&str]) -> Option<usize> {
        self.reader.guess(names)
    }

    /// The next key; `None` at the end of the object.
    #[inline]
    pub(crate) fn key(&mut self) -> Result<Option<Cow<'de, str>>> {
        if self.advance()? {
            self.here().map(Some)
        } else {
            Ok(None)
        }
    }

    /// The key that [`Members::advance`] went to.
    #[inline]
    pub(crate) fn here(&mut self) -> Result<Cow<'de, str>> {
        match self.reader.text()? {
            Some(key) => Ok(key),
            None => Err(self.reader.unexpected("a key")),
        }
    }

    /// The reader, in front of the value of the last key.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<&mut Reader<'de>> {
        self.reader.expect(b':', "a colon")?;
        Ok(self.reader)
    }
}

impl<'de> MapAccess<'de> for &mut Members<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.key()? {
            Some(Cow::Borrowed(key)) => seed.deserialize(BorrowedStrDeserializer::new(key)),
            Some(Cow::Owned(key)) => seed.deserialize(key.into_deserializer()),
            None => return Ok(None),
        }
        .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(self.value()?)
    }
}

/// The elements of an array. Its end is left to the caller.
pub(super) struct Elements<'a, 'de> {
    reader: &'a mut Reader<'de>,
    place: Place,
}

impl<'a, 'de> Elements<'a, 'de> {
    pub(super) fn new(reader: &'a mut Reader<'de>) -> Self {
        let place = Place::First;
        Self { reader, place }
    }
}

impl<'de> Elements<'_, 'de> {
    /// The reader, in front of the next element; `None` at the end of the array.
    pub(super) fn next(&mut self) -> Result<Option<&mut Reader<'de>>> {
        if self.reader.peek() == Some(b']') {
            return Ok(None);
        }
        if self.place == Place::Later {
            self.reader.expect(b',', "a comma")?;
        }
        self.place = Place::Later;
        // A bracket after a comma is no value, so reading that fails as it should.
        Ok(Some(self.reader))
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        match self.next()? {
            Some(reader) => seed.deserialize(reader).map(Some),
            None => Ok(None),
        }
    }
}
