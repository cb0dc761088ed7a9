//! Who else runs sessions of the same store, and whether they are still alive.
//!
//! Each hub holds the lock of a file named after it. The kernel lets go of it when the process
//! is gone, however it went, so a hub whose lock can be had is dead.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use falconer_sandbox::HostId;
use falconer_session::{LockError, SessionLock, SessionLocks};
use falconer_store::NodeId;

/// This hub among others.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: NodeId,
    locks: SessionLocks,
    alive: Mutex<Option<SessionLock>>,
}

impl Node {
    /// Says that this hub is alive, for as long as it is.
    pub(crate) fn enter(directory: &Path) -> Result<Self, LockError> {
        let locks = SessionLocks::new(directory);
        // Several hubs in one process have the same processes but not the same sessions.
        let id = NodeId::from(format!(
            "{}.{}",
            HostId::this().uuid().simple(),
            uuid::Uuid::new_v4().simple()
        ));
        let alive = locks.try_lock(&lock_name(&id))?;
        Ok(Self {
            id,
            locks,
            alive: Mutex::new(Some(alive)),
        })
    }

    /// Says that this hub is gone, whoever still holds it.
    pub(crate) fn leave(&self) {
        let mut alive = self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        drop(alive.take());
    }

    /// Whether this other hub is gone. Unknown means alive.
    pub(crate) fn is_dead(&self, other: &NodeId) -> bool {
        *other != self.id && self.locks.try_lock(&lock_name(other)).is_ok()
    }
}

/// The process of a hub, by which what it started can be found.
pub(crate) fn host_of(node: &NodeId) -> Option<HostId> {
    let host = node.as_str().split('.').next()?;
    uuid::Uuid::try_parse(host).ok().map(HostId::new)
}

/// What the name of a hub's lock begins with; the ids of sessions are no such names.
const HUB: &str = "hub-";

fn lock_name(node: &NodeId) -> String {
    format!("{HUB}{node}")
}

/// Whether a lock with this name is a hub's, and not one of a session.
#[must_use]
pub fn is_hub_lock(name: &str) -> bool {
    name.starts_with(HUB)
}
