//! Ways to a server.

pub(super) mod http;
pub(super) mod sdk;
pub(super) mod sse;
pub(super) mod stdio;
mod watched;

pub(super) use self::watched::Watched;

/// Longest message of a server. One that sends more is cut off.
pub(super) const LONGEST_MESSAGE: usize = 32 * 1024 * 1024;
