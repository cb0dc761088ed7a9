//! The entries of an object while it is read: those set aside first, then the rest.

use serde::de::Error as _;
use serde_json::{Error, Result, Value};

use super::key::Key;
use super::{Extra, Mode, Object, Wire};
use crate::json::Members;

/// The members of an object, with some put back in front of them.
///
/// The normal case is an empty front: the tag was the first key. An object that was parsed
/// before is all front.
pub(crate) struct Entries<'m, 'a, 'de> {
    /// The next one is the last.
    front: Vec<(String, Value)>,
    value: Option<Value>,
    rest: Option<&'m mut Members<'a, 'de>>,
    mode: Mode,
}

impl<'m, 'a, 'de> Entries<'m, 'a, 'de> {
    #[inline]
    pub(crate) fn reading(members: &'m mut Members<'a, 'de>) -> Self {
        Self {
            front: Vec::new(),
            value: None,
            rest: Some(members),
            mode: Mode::Strict,
        }
    }

    pub(crate) fn parsed(object: Object, mode: Mode) -> Self {
        let mut front: Vec<_> = object.into_iter().collect();
        front.reverse();
        Self {
            front,
            value: None,
            rest: None,
            mode,
        }
    }

    #[inline]
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Puts entries in front of the ones that are left.
    #[inline]
    pub(crate) fn put_back(&mut self, front: Vec<(String, Value)>) {
        if !front.is_empty() {
            self.front.extend(front.into_iter().rev());
        }
    }

    #[inline]
    pub(super) fn next_key(&mut self, names: &[&str], hint: usize) -> Result<Option<Key>> {
        if let Some((key, value)) = self.front.pop() {
            self.value = Some(value);
            return Ok(Some(Key::resolve(key.into(), names, hint)));
        }
        let Some(members) = &mut self.rest else {
            return Ok(None);
        };
        if !members.advance()? {
            return Ok(None);
        }
        let guess = members.guess(names.get(hint..).unwrap_or_default());
        Ok(Some(match guess {
            Some(index) => Key::Known(hint + index),
            None => Key::resolve(members.here()?, names, hint),
        }))
    }

    #[inline]
    pub(super) fn next_value<T: Wire>(&mut self) -> Result<T> {
        match (self.value.take(), &mut self.rest) {
            (Some(value), _) => T::take(value, self.mode),
            (None, Some(members)) => T::read(members.value()?),
            (None, None) => Err(Error::custom("no entry is left")),
        }
    }

    /// The next value, `None` if it is null.
    #[inline]
    pub(super) fn next_option<T: Wire>(&mut self) -> Result<Option<T>> {
        match (self.value.take(), &mut self.rest) {
            (Some(Value::Null), _) => Ok(None),
            (Some(value), _) => T::take(value, self.mode).map(Some),
            (None, Some(members)) => {
                let reader = members.value()?;
                if reader.is_null()? {
                    Ok(None)
                } else {
                    T::read(reader).map(Some)
                }
            }
            (None, None) => Err(Error::custom("no entry is left")),
        }
    }

    /// The next value as one of `names`.
    #[inline]
    pub(super) fn next_name(&mut self, names: &[&str]) -> Result<Key> {
        if self.value.is_none()
            && let Some(members) = &mut self.rest
        {
            let reader = members.value()?;
            if let Some(index) = reader.guess(names) {
                return Ok(Key::Known(index));
            }
            return match reader.text()? {
                Some(name) => Ok(Key::resolve(name, names, 0)),
                None => Err(reader.misfit("a string")),
            };
        }
        let name: String = self.next_value()?;
        Ok(Key::resolve(name.into(), names, 0))
    }

    /// Reads everything that is left into one object.
    pub(crate) fn into_object(mut self) -> Result<Object> {
        let mut object: Object = self.front.drain(..).rev().collect();
        if let Some(members) = self.rest {
            while let Some(key) = members.key()? {
                object.insert(key.into_owned(), Value::read(members.value()?)?);
            }
        }
        Ok(object)
    }
}

/// Walks the entries of a struct: hands out known fields, keeps the unknown ones.
pub(crate) struct FieldReader<'m, 'a, 'de> {
    entries: Entries<'m, 'a, 'de>,
    names: &'static [&'static str],
    tags: &'static [(&'static str, &'static str)],
    hint: usize,
}

impl<'m, 'a, 'de> FieldReader<'m, 'a, 'de> {
    #[inline]
    pub(crate) fn new(
        entries: Entries<'m, 'a, 'de>,
        names: &'static [&'static str],
        tags: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            entries,
            names,
            tags,
            hint: 0,
        }
    }

    /// The index of the next known field; unknown ones on the way go to `extra`.
    #[inline]
    pub(crate) fn next_field(&mut self, extra: &mut Extra) -> Result<Option<usize>> {
        loop {
            match self.entries.next_key(self.names, self.hint)? {
                None => return Ok(None),
                Some(Key::Known(field)) => {
                    self.hint = field + 1;
                    return Ok(Some(field));
                }
                Some(Key::Unknown(key)) => self.keep(key, extra)?,
            }
        }
    }

    fn keep(&mut self, key: String, extra: &mut Extra) -> Result<()> {
        let value: Value = self.entries.next_value()?;
        match self.tags.iter().find(|(tag, _)| *tag == key) {
            None => {
                extra.insert(key, value);
                Ok(())
            }
            Some((_, expected)) if value == *expected => Ok(()),
            Some((tag, expected)) => Err(Error::custom(format_args!(
                "`{tag}` is {value}, expected \"{expected}\""
            ))),
        }
    }

    #[inline]
    pub(crate) fn required<T: Wire>(&mut self) -> Result<T> {
        self.entries.next_value()
    }

    /// Reads an optional field; `null` reads as `None` and is remembered.
    #[inline]
    pub(crate) fn optional<T: Wire>(
        &mut self,
        field: usize,
        extra: &mut Extra,
    ) -> Result<Option<T>> {
        if self.entries.mode == Mode::Lenient {
            return self.misfit_to_extra(field, extra);
        }
        let value: Option<T> = self.entries.next_option()?;
        if value.is_none() {
            extra.spell_out(field);
        }
        Ok(value)
    }

    /// Reads a field that may be left out; the empty value is remembered when it was written.
    #[inline]
    pub(crate) fn defaulted<T>(&mut self, field: usize, extra: &mut Extra) -> Result<T>
    where
        T: Wire + Default + PartialEq,
    {
        let value = match self.entries.mode {
            Mode::Strict => self.entries.next_value()?,
            Mode::Lenient => match self.misfit_to_extra(field, extra)? {
                Some(value) => value,
                None => return Ok(T::default()),
            },
        };
        if value == T::default() {
            extra.spell_out(field);
        }
        Ok(value)
    }

    fn misfit_to_extra<T: Wire>(&mut self, field: usize, extra: &mut Extra) -> Result<Option<T>> {
        let value: Value = self.entries.next_value()?;
        if !value.is_null()
            && let Ok(read) = T::take(value.clone(), Mode::Lenient)
        {
            return Ok(Some(read));
        }
        extra.insert(self.names[field], value);
        Ok(None)
    }
}
