//! Reading a string-like type without an intermediate `String`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Visitor};

/// Visits a string and converts it.
pub(crate) struct TextVisitor<T>(PhantomData<T>);

impl<T> TextVisitor<T> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Visitor<'_> for TextVisitor<T>
where
    T: for<'a> From<&'a str> + From<String>,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        Ok(T::from(value))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<T, E> {
        Ok(T::from(value))
    }
}
