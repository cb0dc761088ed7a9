//! A JSON number that is written back as it was read.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that may be whole or not, such as a cost or a duration.
///
/// `0` and `0.0` are different texts for the same amount; an `f64` would lose which one it was.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Number(serde_json::Number);

impl Number {
    /// The number as a float.
    pub fn as_f64(&self) -> f64 {
        self.0.as_f64().unwrap_or(f64::NAN)
    }

    /// The number, if it is whole and not negative.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.as_u64()
    }
}

impl Default for Number {
    fn default() -> Self {
        Self::from(0)
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(value.into())
    }
}

impl From<f64> for Number {
    /// Infinite values and NaN have no JSON text and become 0.
    fn from(value: f64) -> Self {
        Self(serde_json::Number::from_f64(value).unwrap_or_else(|| 0.into()))
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_json::Number::deserialize(deserializer).map(Self)
    }
}
