//! Leases of sessions.

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
    /// Time from which others may take it unless it is renewed.
    pub until: Timestamp,
}

/// The fate of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Claim {
    /// The caller runs the session now.
    Claimed(Lease),
    /// Somebody else does.
    Held {
        /// Holder.
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
    /// Name of the program for people, such as `falconer serve`.
    pub program: String,
    /// Address over HTTP, if it has one.
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
    /// Start, in ticks after the boot: a process id is used again.
    pub started: u64,
}

/// Somebody who runs sessions, or could.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// Node.
    pub node: NodeId,
    /// Its own description, if it gave one.
    pub about: Option<Node>,
    /// Number of sessions.
    pub sessions: u64,
    /// Time at which the last of its leases runs out.
    pub until: Timestamp,
    /// `true` if all of them have run out, by the clock of the store.
    pub is_expired: bool,
}

/// The reason somebody else's sessions may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// The process is known to be gone: all its sessions are free.
    Known,
    /// Nothing was heard of it: those are free whose lease ran out, by the clock of the store.
    Silent,
}

/// The condition for making a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Anybody, whoever runs the session.
    Anyone,
    /// The holder of the lease with this fence and nobody else.
    Holder(Fence),
}
