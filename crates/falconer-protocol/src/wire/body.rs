//! Objects that can be read from entries: structs, and enums picked by a tag.

use serde_json::{Result, Value};

use super::field::misfit;
use super::key::Key;
use super::{Entries, Mode, Object};
use crate::json::Reader;

/// A type that is an object on the wire.
pub(crate) trait Body: Sized {
    /// `true` if it looks again at the tag that led to it, and so needs it among the entries.
    const REREADS_TAG: bool;

    fn from_entries(entries: Entries<'_, '_, '_>) -> Result<Self>;
}

impl<T: Body> Body for Box<T> {
    const REREADS_TAG: bool = T::REREADS_TAG;

    #[inline]
    fn from_entries(entries: Entries<'_, '_, '_>) -> Result<Self> {
        T::from_entries(entries).map(Box::new)
    }
}

/// Reads an object from text.
#[inline]
pub(crate) fn read_body<T: Body>(reader: &mut Reader<'_>) -> Result<T> {
    reader.object("an object", |members| {
        T::from_entries(Entries::reading(members))
    })
}

/// Reads an object that was parsed before.
pub(crate) fn take_body<T: Body>(value: Value, mode: Mode) -> Result<T> {
    match value {
        Value::Object(object) => T::from_entries(Entries::parsed(object, mode)),
        other => Err(misfit(other, "an object")),
    }
}

/// An enum whose variant is named by one key of the object.
pub(crate) trait Tagged: Body {
    /// The key.
    const TAG: &'static str;
    /// Its known values, in the order of the variants.
    const VALUES: &'static [&'static str];
    /// The variant of an object without the tag; `None` for `Unknown`.
    const UNTAGGED: Option<usize>;

    /// Reads a variant. The tag may or may not be among the entries any more.
    fn from_variant(variant: usize, entries: Entries<'_, '_, '_>) -> Result<Self>;

    fn unknown(object: Object) -> Self;
}

/// Reads an enum: straight on if the tag is the first key, else from what was set aside.
#[inline]
pub(crate) fn read_tagged<T: Tagged>(entries: Entries<'_, '_, '_>) -> Result<T> {
    match entries.mode() {
        Mode::Strict => read_strict(entries),
        Mode::Lenient => read_lenient(entries),
    }
}

#[inline]
fn read_strict<T: Tagged>(mut entries: Entries<'_, '_, '_>) -> Result<T> {
    let mut front = Vec::new();
    while let Some(key) = entries.next_key(&[T::TAG], 0)? {
        match key {
            Key::Unknown(key) => front.push((key, entries.next_value()?)),
            Key::Known(_) => {
                let value = entries.next_name(T::VALUES)?;
                entries.put_back(front);
                return with_tag(value, entries);
            }
        }
    }
    entries.put_back(front);
    match T::UNTAGGED {
        Some(variant) => T::from_variant(variant, entries),
        None => entries.into_object().map(T::unknown),
    }
}

#[inline]
fn with_tag<T: Tagged>(value: Key, mut entries: Entries<'_, '_, '_>) -> Result<T> {
    match value {
        Key::Known(variant) => {
            if T::UNTAGGED == Some(variant) {
                entries.put_back(vec![(T::TAG.to_owned(), T::VALUES[variant].into())]);
            }
            T::from_variant(variant, entries)
        }
        Key::Unknown(value) => {
            entries.put_back(vec![(T::TAG.to_owned(), Value::String(value))]);
            entries.into_object().map(T::unknown)
        }
    }
}

fn read_lenient<T: Tagged>(entries: Entries<'_, '_, '_>) -> Result<T> {
    let object = entries.into_object()?;
    let variant = match object.get(T::TAG) {
        Some(Value::String(value)) => T::VALUES.iter().position(|known| known == value),
        Some(_) => None,
        None => T::UNTAGGED,
    };
    let Some(variant) = variant else {
        return Ok(T::unknown(object));
    };
    let entries = Entries::parsed(object.clone(), Mode::Lenient);
    Ok(T::from_variant(variant, entries).unwrap_or_else(|_| T::unknown(object)))
}

/// Reads an enum whose variant is known before its tag has been met, if it has that variant.
pub(crate) fn read_preset<T: Tagged>(tag: &str, reader: &mut Reader<'_>) -> Result<T> {
    match T::VALUES.iter().position(|known| *known == tag) {
        None => read_body(reader),
        Some(variant) => reader.object("an object", |members| {
            T::from_variant(variant, Entries::reading(members))
        }),
    }
}
