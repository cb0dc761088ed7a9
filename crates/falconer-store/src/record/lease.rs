//! Who runs a session.

use serde::{Deserialize, Serialize};

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

/// A process that may run sessions, as others need to know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Node {
    /// Its name; made anew whenever a process starts.
    pub id: NodeId,
    /// What people call such a process, such as `falconer serve`.
    pub program: String,
    /// Where it is reached over HTTP, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The name of its machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// By which others on the same machine see whether it is still there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
}

impl Node {
    /// A process that runs sessions.
    pub fn new(id: NodeId, program: impl Into<String>) -> Self {
        Self {
            id,
            program: program.into(),
            url: None,
            machine: None,
            process: None,
        }
    }
}

/// One process, and no other one before or after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The boot of the machine, and the namespace the number belongs to.
    pub space: String,
    /// Its number.
    pub pid: u32,
    /// When it began, in ticks after the boot: a number is used again.
    pub started: u64,
}

/// Somebody who runs sessions, or could.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// Who.
    pub node: NodeId,
    /// What it said of itself, if it did.
    pub about: Option<Node>,
    /// How many sessions.
    pub sessions: u64,
    /// When the last of its leases runs out.
    pub until: Timestamp,
    /// Whether all of them have, by the clock of the store.
    pub is_expired: bool,
}

/// Why somebody else's sessions may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// The process is known to be gone: all its sessions are free.
    Known,
    /// Nothing was heard of it: those are free whose lease ran out, by the clock of the store.
    Silent,
}

/// Who may make a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Anybody, whoever runs the session.
    Anyone,
    /// The holder of the lease with this fence and nobody else.
    Holder(Fence),
}
