//! An object key, or a tag value, as an index into a list of known names.

use std::borrow::Cow;

/// A key, resolved.
pub(crate) enum Key {
    /// The index of a known name.
    Known(usize),
    /// Any other name.
    Unknown(String),
}

impl Key {
    /// Looks for `key` in `names`, starting at `hint`.
    ///
    /// Writers emit fields in the same order every time, so the name after the last one found is
    /// the best guess.
    #[inline]
    pub(super) fn resolve(key: Cow<'_, str>, names: &[&str], hint: usize) -> Self {
        let (before, after) = names.split_at(hint.min(names.len()));
        if let Some(at) = after.iter().position(|name| *name == key) {
            return Self::Known(hint + at);
        }
        match before.iter().position(|name| *name == key) {
            Some(at) => Self::Known(at),
            None => Self::Unknown(key.into_owned()),
        }
    }
}
