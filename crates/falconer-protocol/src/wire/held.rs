//! A deserializer over a `Value` that is already in memory.

use std::marker::PhantomData;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::Mode;

/// A parsed value, with the error type of whoever reads it and a [`Mode`].
pub(crate) struct Held<E> {
    value: Value,
    mode: Mode,
    error: PhantomData<E>,
}

impl<E> Held<E> {
    pub(crate) fn new(value: Value, mode: Mode) -> Self {
        Self {
            value,
            mode,
            error: PhantomData,
        }
    }
}

impl<'de, E: Error> IntoDeserializer<'de, E> for Held<E> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de, E: Error> Deserializer<'de> for Held<E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        let mode = self.mode;
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(value) => visit_number(&value, visitor),
            Value::String(value) => visitor.visit_string(value),
            Value::Array(values) => {
                let items = values.into_iter().map(move |value| Self::new(value, mode));
                visitor.visit_seq(SeqDeserializer::new(items))
            }
            Value::Object(map) => {
                let entries = map
                    .into_iter()
                    .map(move |(key, value)| (key, Self::new(value, mode)));
                visitor.visit_map(MapDeserializer::new(entries))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        if self.value.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    fn is_human_readable(&self) -> bool {
        self.mode == Mode::Strict
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

fn visit_number<'de, V: Visitor<'de>, E: Error>(
    number: &serde_json::Number,
    visitor: V,
) -> Result<V::Value, E> {
    if let Some(value) = number.as_u64() {
        visitor.visit_u64(value)
    } else if let Some(value) = number.as_i64() {
        visitor.visit_i64(value)
    } else {
        visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN))
    }
}
