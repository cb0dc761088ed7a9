//! Who runs a session.

use crate::id::{Fence, NodeId, SessionId};
use crate::time::Timestamp;

/// The right to run a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// The session.
    pub session: SessionId,
    /// Names this claim in every write; higher than that of any claim before.
    pub fence: Fence,
    /// When others may take it unless it is renewed.
    pub until: Timestamp,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Claim {
    /// The caller runs the session now.
    Claimed(Lease),
    /// Somebody else does.
    Held {
        /// Who.
        owner: NodeId,
        /// Until when, unless it is renewed.
        until: Timestamp,
    },
}

/// Somebody who runs sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// Who.
    pub node: NodeId,
    /// How many sessions.
    pub sessions: u64,
    /// When the last of its leases runs out.
    pub until: Timestamp,
}

/// Who may make a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Anybody, whoever runs the session.
    Anyone,
    /// The holder of the lease with this fence and nobody else.
    Holder(Fence),
}
