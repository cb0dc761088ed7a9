//! One line of a transcript on its way to or from a store.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::store_error::SessionStoreError;
use crate::text::Text;

/// One entry of a transcript: a JSON object that stores pass through as it is.
///
/// Stores need not keep the text, only its meaning: two entries are equal if their JSON is.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct SessionStoreEntry(Box<RawValue>);

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default)]
    uuid: Text<'a>,
    #[serde(borrow, default, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default)]
    timestamp: Text<'a>,
}

impl SessionStoreEntry {
    /// Takes the text of a JSON object.
    ///
    /// ```
    /// use falconer::mirror::SessionStoreEntry;
    ///
    /// let entry = SessionStoreEntry::from_json(r#"{"type":"user","uuid":"u1"}"#)?;
    /// assert_eq!(entry.uuid().as_deref(), Some("u1"));
    /// assert!(SessionStoreEntry::from_json("[1]").is_err());
    /// # Ok::<(), falconer::mirror::SessionStoreError>(())
    /// ```
    pub fn from_json(text: impl Into<String>) -> Result<Self, SessionStoreError> {
        let raw = RawValue::from_string(text.into()).map_err(|error| invalid(&error))?;
        Self::from_raw(raw)
    }

    pub(crate) fn from_raw(raw: Box<RawValue>) -> Result<Self, SessionStoreError> {
        if !raw.get().starts_with('{') {
            return Err(SessionStoreError::InvalidEntry {
                reason: "it is not an object".to_owned(),
            });
        }
        // One entry is one line; only insignificant white space can hold a line break.
        if raw.get().contains(['\n', '\r']) {
            let value: Value = serde_json::from_str(raw.get()).map_err(|error| invalid(&error))?;
            return Self::try_from(value);
        }
        Ok(Self(raw))
    }

    /// The entry as JSON on one line.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// The entry decoded.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(self.as_json()).unwrap_or_default()
    }

    /// The id by which a store recognises an entry it already has; titles and tags of the
    /// CLI have none.
    pub fn uuid(&self) -> Option<String> {
        self.head()?.uuid.into_string()
    }

    /// Returns the kind of entry.
    pub fn kind(&self) -> Option<String> {
        self.head()?.kind.into_string()
    }

    /// When it was written.
    pub(crate) fn timestamp(&self) -> Option<String> {
        self.head()?.timestamp.into_string()
    }

    fn head(&self) -> Option<Head<'_>> {
        serde_json::from_str(self.as_json()).ok()
    }
}

impl PartialEq for SessionStoreEntry {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json() || self.to_value() == other.to_value()
    }
}

impl TryFrom<Value> for SessionStoreEntry {
    type Error = SessionStoreError;

    fn try_from(value: Value) -> Result<Self, SessionStoreError> {
        Self::from_json(value.to_string())
    }
}

impl<'de> Deserialize<'de> for SessionStoreEntry {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_raw(raw).map_err(serde::de::Error::custom)
    }
}

fn invalid(error: &serde_json::Error) -> SessionStoreError {
    SessionStoreError::InvalidEntry {
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_one_line_and_compare_by_meaning() {
        let pretty =
            SessionStoreEntry::from_json("{\n  \"b\": 1,\n  \"a\": \"x\\ny\"\n}").expect("object");
        assert!(!pretty.as_json().contains('\n'));
        let compact = SessionStoreEntry::from_json(r#"{"a":"x\ny","b":1}"#).expect("object");
        assert_eq!(pretty, compact);
        let other = SessionStoreEntry::from_json(r#"{"a":"x\ny","b":2}"#).expect("object");
        assert_ne!(pretty, other);
    }
}
