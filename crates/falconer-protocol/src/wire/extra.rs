//! Parts of an object that its struct has no field for.

use std::fmt;

use serde::ser::SerializeMap;
use serde_json::Value;

/// Unknown fields of an object, in the order they came, so that they can be written back.
///
/// It also remembers which empty optional fields were spelled out (`null`, `[]`), so that a
/// message is written back as it was read. Nothing is allocated while there is nothing to keep.
#[derive(Clone, Default, PartialEq)]
pub struct Extra {
    spelled_out: u64,
    // Boxed because there is one of these in every struct, and nearly all are empty.
    #[allow(clippy::box_collection, reason = "a third of the size")]
    entries: Option<Box<Vec<(String, Value)>>>,
}

impl Extra {
    /// Returns the value of an unknown field.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.iter().find(|(k, _)| *k == key).map(|(_, v)| v)
    }

    /// Adds a field, or replaces the one of that name; returns the old value.
    pub fn insert(&mut self, key: impl Into<String>, value: Value) -> Option<Value> {
        let key = key.into();
        let entries = self.entries.get_or_insert_default();
        match entries.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                entries.push((key, value));
                None
            }
        }
    }

    /// Returns the unknown fields in the order they came.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let entries = self.entries.iter().flat_map(|entries| entries.iter());
        entries.map(|(k, v)| (k.as_str(), v))
    }

    /// Returns `true` if there was no unknown field.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of unknown fields.
    pub fn len(&self) -> usize {
        self.entries.as_ref().map_or(0, |entries| entries.len())
    }

    /// Has the field of that name written while it is empty.
    pub(crate) fn spell_out_named(&mut self, names: &[&str], name: &str) {
        let field = names.iter().position(|known| *known == name);
        debug_assert!(field.is_some(), "there is no field `{name}`");
        if let Some(field) = field {
            // What did not fit into the field is not written beside it.
            if let Some(entries) = &mut self.entries {
                entries.retain(|(key, _)| key != name);
            }
            self.spell_out(field);
        }
    }

    pub(crate) fn spell_out(&mut self, field: usize) {
        self.spelled_out |= 1 << field;
    }

    pub(crate) fn is_spelled_out(&self, field: usize) -> bool {
        self.spelled_out & (1 << field) != 0
    }

    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
