//! Positions in what an engine writes.

/// A position in the stream of an engine's messages.
///
/// Requests of the engine (permissions, hooks, questions) are served beside the stream, so that a
/// caller who reads slowly holds none of them up. Each carries the position at which the engine
/// made it. A caller to whom order matters handles a request once
/// [`Messages::position`](crate::Messages::position) has reached the position of the request: then
/// every message the engine wrote before the request has been read, and none that it wrote
/// afterwards has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position(u64);

impl Position {
    /// Returns the position after this many bytes of messages.
    pub(crate) fn after(bytes: u64) -> Self {
        Self(bytes)
    }
}
