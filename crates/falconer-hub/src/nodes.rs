//! Who else runs sessions of the same store, and whether they are still alive.
//!
//! Who has a session is in the store, with a lease that its owner renews. An owner whose leases
//! ran out is silent; one whose process is seen to be gone is dead at once. Anything else counts
//! as alive: a process on another machine, or behind another namespace, cannot be looked at.

use std::sync::{Mutex, PoisonError};

use falconer_process::HostId;
use falconer_store::{Death, Node as About, NodeId, Owner, Process};

/// This hub among others.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: NodeId,
    about: Mutex<About>,
}

impl Node {
    pub(crate) fn new(program: &str) -> Self {
        // Several hubs in one process have the same processes but not the same sessions.
        let id = NodeId::from(format!(
            "{}.{}",
            HostId::this().uuid().simple(),
            uuid::Uuid::new_v4().simple()
        ));
        let mut about = About::new(id.clone(), program);
        about.machine = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .ok()
            .map(|name| name.trim().to_owned());
        about.process = this_process();
        let about = Mutex::new(about);
        Self { id, about }
    }

    /// What others are told of this hub.
    pub(crate) fn about(&self) -> About {
        let about = self.about.lock().unwrap_or_else(PoisonError::into_inner);
        about.clone()
    }

    pub(crate) fn is_reached_at(&self, url: String) {
        let mut about = self.about.lock().unwrap_or_else(PoisonError::into_inner);
        about.url = Some(url);
    }

    /// Why the sessions of this owner may be taken; `None` if it counts as alive.
    pub(crate) fn death_of(&self, owner: &Owner) -> Option<Death> {
        let process = owner
            .about
            .as_ref()
            .and_then(|about| about.process.as_ref());
        if owner.node == self.id {
            None
        } else if process.is_some_and(is_gone) {
            Some(Death::Known)
        } else {
            owner.is_expired.then_some(Death::Silent)
        }
    }
}

/// The process of a hub, by which what it started can be found.
pub(crate) fn host_of(node: &NodeId) -> Option<HostId> {
    let host = node.as_str().split('.').next()?;
    uuid::Uuid::try_parse(host).ok().map(HostId::new)
}

fn this_process() -> Option<Process> {
    let pid = std::process::id();
    let (_, started) = look(pid)?;
    Some(Process {
        space: space()?,
        pid,
        started,
    })
}

/// Where the numbers of processes, and the ticks at which they began, mean what they mean here.
fn space() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = |kind: &str| std::fs::read_link(format!("/proc/self/ns/{kind}")).ok();
    let (pid, time) = (namespace("pid")?, namespace("time").unwrap_or_default());
    Some(format!(
        "{} {} {}",
        boot.trim(),
        pid.display(),
        time.display()
    ))
}

/// Whether a process is seen to be gone. Unknown means alive.
fn is_gone(process: &Process) -> bool {
    if space().as_ref() != Some(&process.space) {
        return false;
    }
    let pid = i32::try_from(process.pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    // Asked of the kernel: `/proc` may hide the processes of other users.
    let asked = pid.map(rustix::process::test_kill_process);
    if asked == Some(Err(rustix::io::Errno::SRCH)) {
        return true;
    }
    look(process.pid).is_some_and(|(state, started)| {
        let is_over = matches!(state, 'Z' | 'X');
        is_over || started != process.started
    })
}

/// The state of a process, and the tick at which it began.
fn look(pid: u32) -> Option<(char, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let started = fields.nth(18)?.parse().ok()?;
    Some((state, started))
}

#[cfg(test)]
mod tests {
    use super::{is_gone, look, this_process};

    #[test]
    fn a_process_is_gone_only_if_that_is_seen() {
        let this = this_process().unwrap();
        assert!(!is_gone(&this));
        let mut earlier = this.clone();
        earlier.started -= 1;
        assert!(is_gone(&earlier), "the number was used again");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let mut other = this;
        other.pid = child.id();
        other.started = look(other.pid).unwrap().1;
        while look(other.pid).is_some_and(|(state, _)| state != 'Z') {
            std::thread::yield_now();
        }
        assert!(is_gone(&other), "it ended and nobody asked for its end yet");
        child.wait().unwrap();
        assert!(is_gone(&other));
        other.space.push_str(" elsewhere");
        assert!(!is_gone(&other), "its number means nothing here");
    }
}
