//! The events as a JSON Schema, for programs in other languages.

use serde_json::Value;

use crate::envelope::Event;

/// The schema of [`Event`].
pub fn json_schema() -> Value {
    schemars::schema_for!(Event).to_value()
}
