//! The resource limits by which descendants are recognised that wiped their environment.
//!
//! Limits are inherited by every child and kept by `execve`, and without privileges a hard one
//! cannot be raised again. Linux keeps two that have no effect at all, and one that has none for
//! ordinary programs. The hard limit names the supervised process, the soft one the process that
//! started it; both are so large that they limit nothing. A process that is itself supervised
//! uses the next limit, so that each level finds its own.

use std::sync::OnceLock;

use rustix::process::{Pid, Resource, getrlimit, test_kill_process};

use super::exec;
use super::marker::{self, Marker};

/// A limit that can carry a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Without effect since Linux 2.4.25.
    Locks,
    /// Without effect since Linux 2.4.30.
    ResidentSet,
    /// Counts only for real-time threads that never sleep.
    RealTime,
}

/// The tag of a supervised process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(super) limit: Limit,
    pub(super) root: u64,
    pub(super) host: u64,
}

impl Limit {
    /// Its number for the kernel.
    pub(super) fn number(self) -> libc::c_long {
        match self {
            Self::Locks => 10,
            Self::ResidentSet => 5,
            Self::RealTime => 15,
        }
    }

    /// Its name in `/proc/PID/limits`.
    fn title(self) -> &'static str {
        match self {
            Self::Locks => "Max file locks",
            Self::ResidentSet => "Max resident set",
            Self::RealTime => "Max realtime timeout",
        }
    }

    /// The limit of this process's level: the first that nobody has set. `None` if all are taken.
    pub(super) fn ours() -> Option<Self> {
        static OURS: OnceLock<Option<Limit>> = OnceLock::new();
        let free = |resource| getrlimit(resource).maximum.is_none();
        *OURS.get_or_init(|| {
            let limits = [
                (Self::Locks, Resource::Locks),
                (Self::ResidentSet, Resource::Rss),
                (Self::RealTime, Resource::Rttime),
            ];
            let found = limits.into_iter().find(|(_, resource)| free(*resource));
            found.map(|(limit, _)| limit)
        })
    }
}

impl Tag {
    /// The tag for a process with this marker.
    pub(super) fn of(marker: Marker) -> Option<Self> {
        Some(Self {
            limit: Limit::ours()?,
            root: root_number(marker),
            host: host_number(marker::host()),
        })
    }
}

/// Returns whether this process was started by a supervised one, at whatever distance.
pub fn is_supervised() -> bool {
    let limits = [Resource::Locks, Resource::Rss, Resource::Rttime];
    let hard = limits
        .into_iter()
        .filter_map(|limit| getrlimit(limit).maximum);
    hard.into_iter().any(is_root_number)
}

fn is_root_number(hard: u64) -> bool {
    hard >> 62 == 1
}

/// The hard limit of what belongs to a supervised process: between 2^62 and 2^63.
pub(super) fn root_number(marker: Marker) -> u64 {
    (1 << 62) | marker.random_bits()
}

/// The soft limit of what belongs to a host: between 2^61 and 2^62.
pub(super) fn host_number(host: Marker) -> u64 {
    (1 << 61) | (host.random_bits() & ((1 << 61) - 1))
}

/// The numbers that a process carries, or those of nobody.
pub(super) fn numbers_on(pid: u32) -> [u64; 2] {
    let limits = Limit::ours().and_then(|limit| {
        let limits = exec::limits_of(pid, limit);
        limits.or_else(|| limits_of_other_user(pid, limit))
    });
    match limits {
        Some((soft, hard)) if is_root_number(hard) => [hard, soft],
        _ => [0; 2],
    }
}

/// Reads the limits of a process that the system call does not tell us about, if we could signal
/// it. Everybody may read the file, but it takes ten times as long.
fn limits_of_other_user(pid: u32, limit: Limit) -> Option<(u64, u64)> {
    let process = Pid::from_raw(pid.cast_signed())?;
    test_kill_process(process).ok()?;
    let text = std::fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(limit.title()))?;
    let mut numbers = rest.split_ascii_whitespace();
    let mut number = || numbers.next()?.parse().ok();
    Some((number()?, number()?))
}
