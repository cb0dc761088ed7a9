//! Strict or lenient reading, carried from deserializer to visitor.

use serde::de::Deserializer;

/// The treatment of a value of an unexpected type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It fails the whole read.
    Strict,
    /// It is kept raw at the nearest place that can hold it.
    Lenient,
}

impl Mode {
    /// Asks a deserializer for its mode.
    ///
    /// [`Held`](super::Held) says "not human readable" when it is lenient. None of our types
    /// gives that answer any other meaning, and it spares a second set of traits.
    pub(crate) fn of<'de, D: Deserializer<'de>>(deserializer: &D) -> Self {
        if deserializer.is_human_readable() {
            Self::Strict
        } else {
            Self::Lenient
        }
    }
}
