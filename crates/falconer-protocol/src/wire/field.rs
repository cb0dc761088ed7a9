//! Types of fields: strings, numbers, lists and the wire types themselves.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Visitor};
use serde_json::{Error, Result, Value};

use super::{Held, Mode, Object};
use crate::json::Reader;

/// A type that is read from the text of a line, or from a value that was parsed before.
///
/// serde would do, but would make a copy of everything for each kind of input.
pub(crate) trait Wire: Sized {
    fn read(reader: &mut Reader<'_>) -> Result<Self>;

    fn take(value: Value, mode: Mode) -> Result<Self>;
}

/// Reads a wire type with anybody's deserializer.
pub(crate) fn deserialize<'de, T: Wire, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<T, D::Error> {
    let mode = Mode::of(&deserializer);
    let value = Value::deserialize(deserializer)?;
    T::take(value, mode).map_err(D::Error::custom)
}

/// Types without parts of ours are read as serde reads them.
macro_rules! plain {
    ($($ty:ty),+) => {$(
        impl $crate::wire::Wire for $ty {
            #[inline]
            fn read(reader: &mut $crate::json::Reader<'_>) -> serde_json::Result<Self> {
                serde::Deserialize::deserialize(reader)
            }

            fn take(
                value: serde_json::Value,
                mode: $crate::wire::Mode,
            ) -> serde_json::Result<Self> {
                let held = $crate::wire::Held::<serde_json::Error>::new(value, mode);
                serde::Deserialize::deserialize(held)
            }
        }
    )+};
}

pub(crate) use plain;

plain!(String, bool, u64, u32, u16, i64, Object, crate::Number);

impl Wire for Value {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Self::deserialize(reader)
    }

    fn take(value: Value, _mode: Mode) -> Result<Self> {
        Ok(value)
    }
}

impl<T: Wire> Wire for Box<T> {
    #[inline]
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        T::read(reader).map(Box::new)
    }

    fn take(value: Value, mode: Mode) -> Result<Self> {
        T::take(value, mode).map(Box::new)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut list = Vec::new();
        if !reader.list(|reader| T::read(reader).map(|item| list.push(item)))? {
            return Err(reader.misfit("a sequence"));
        }
        Ok(list)
    }

    fn take(value: Value, mode: Mode) -> Result<Self> {
        match value {
            Value::Array(values) => values.into_iter().map(|v| T::take(v, mode)).collect(),
            other => Err(misfit(other, "a sequence")),
        }
    }
}

impl<K: Ord + From<String>, T: Wire> Wire for BTreeMap<K, T> {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.object("a map", |members| {
            let mut map = Self::new();
            while let Some(key) = members.key()? {
                map.insert(key.into_owned().into(), T::read(members.value()?)?);
            }
            Ok(map)
        })
    }

    fn take(value: Value, mode: Mode) -> Result<Self> {
        let Value::Object(object) = value else {
            return Err(misfit(value, "a map"));
        };
        let entries = object.into_iter();
        entries
            .map(|(key, value)| Ok((key.into(), T::take(value, mode)?)))
            .collect()
    }
}

/// Returns the error that a value is not what was `expected`.
#[cold]
pub(crate) fn misfit(value: Value, expected: &'static str) -> Error {
    refusal(Held::<Error>::new(value, Mode::Strict), expected)
}

/// The error of a visitor that expected another type.
#[cold]
pub(crate) fn refusal<'de, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
) -> D::Error {
    match deserializer.deserialize_any(Refusal(expected)) {
        Err(error) => error,
    }
}

/// Visits nothing, so that every value is an error that says what it is.
struct Refusal(&'static str);

impl Visitor<'_> for Refusal {
    type Value = Infallible;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
