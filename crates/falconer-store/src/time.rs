//! Points in time, as they are stored and shown.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time to the microsecond; RFC 3339 in UTC wherever it is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Now.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_microsecond())
    }

    /// So many microseconds after 1970; `None` if no calendar reaches that far.
    pub fn from_micros(micros: i64) -> Option<Self> {
        jiff::Timestamp::from_microsecond(micros).ok()?;
        Some(Self(micros))
    }

    /// Microseconds after 1970.
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// So much later; the end of the calendar if that is later still.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let more = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        let last = jiff::Timestamp::MAX.as_second() * 1_000_000;
        Self(self.0.saturating_add(more).min(last))
    }

    /// So much earlier; the start of the calendar if that is earlier still.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        let less = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        let first = jiff::Timestamp::MIN.as_second() * 1_000_000;
        Self(self.0.saturating_sub(less).max(first))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => write!(f, "{time:.6}"),
            Err(_) => write!(f, "{} µs after 1970", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time: jiff::Timestamp = text
            .parse()
            .map_err(|error| format!("{text:?} is not a time in RFC 3339: {error}"))?;
        Ok(Self(time.as_microsecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::Timestamp;

    proptest! {
        #[test]
        fn a_time_survives_its_text_and_sorts_like_it(a: u32, b: u32, micros in 0..1_000_000_i64) {
            let time = |seconds: u32| Timestamp::from_micros(i64::from(seconds) * 1_000_000 + micros);
            let (a, b) = (time(a).unwrap(), time(b).unwrap());
            prop_assert_eq!(a.to_string().parse::<Timestamp>(), Ok(a));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
            let json = serde_json::to_string(&a).unwrap();
            prop_assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), a);
        }

        #[test]
        fn no_sum_leaves_the_calendar(micros: i64, more: u64) {
            if let Some(time) = Timestamp::from_micros(micros) {
                let more = Duration::from_micros(more);
                prop_assert!(Timestamp::from_micros(time.plus(more).as_micros()).is_some());
                prop_assert!(Timestamp::from_micros(time.minus(more).as_micros()).is_some());
                prop_assert!(time.minus(more) <= time && time <= time.plus(more));
            }
        }
    }

    #[test]
    fn a_time_is_told_as_rfc_3339() {
        let time = Timestamp::from_micros(1_700_000_000_000_001).unwrap();
        assert_eq!(time.to_string(), "2023-11-14T22:13:20.000001Z");
        assert!("yesterday".parse::<Timestamp>().is_err());
    }
}
