//! The clock by which leases run out.
//!
//! Everybody who sets the time of the machine moves the wall clock, and with it the end of every
//! lease that is judged by it: one step forward and all sessions would look abandoned. All
//! processes of a machine share the monotonic clock, which nobody sets and which stands still
//! while the machine sleeps. So a lease carries both, with the boot the second one belongs to.

use std::time::Duration;

use crate::time::Timestamp;

/// The values bound to a statement that judges a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) wall: Timestamp,
    /// The boot `monotonic` counts in; `None` where it is not known.
    pub(super) boot: Option<String>,
    /// Microseconds.
    pub(super) monotonic: i64,
}

impl Moment {
    /// So much later.
    pub(super) fn plus(&self, duration: Duration) -> Self {
        let more = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self {
            wall: self.wall.plus(duration),
            boot: self.boot.clone(),
            monotonic: self.monotonic.saturating_add(more),
        }
    }

    /// Returns `true` if this is over at `now`.
    pub(super) fn is_over(&self, now: &Self) -> bool {
        match (&self.boot, &now.boot) {
            (Some(boot), Some(this)) if boot == this => self.monotonic <= now.monotonic,
            _ => self.wall <= now.wall,
        }
    }
}

/// The source of a store's time.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    boot: Option<String>,
    #[cfg(test)]
    pub(super) wall_offset: i64,
}

impl Clock {
    /// That of this machine.
    pub(super) fn new() -> Self {
        Self {
            boot: boot(),
            #[cfg(test)]
            wall_offset: 0,
        }
    }

    /// As a process would have it on a machine that was started again.
    #[cfg(test)]
    pub(super) fn of_another_boot() -> Self {
        Self {
            boot: Some("another".to_owned()),
            wall_offset: 0,
        }
    }

    pub(super) fn now(&self) -> Moment {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        Moment {
            wall: self.wall(),
            boot: self.boot.clone(),
            monotonic: time
                .tv_sec
                .saturating_mul(1_000_000)
                .saturating_add(time.tv_nsec / 1_000),
        }
    }

    #[cfg(not(test))]
    fn wall(&self) -> Timestamp {
        Timestamp::now()
    }

    #[cfg(test)]
    fn wall(&self) -> Timestamp {
        let now = Timestamp::now().as_micros() + self.wall_offset;
        Timestamp::from_micros(now).unwrap_or_else(Timestamp::now)
    }
}

/// This boot of the machine, as seen from here: another time namespace counts differently.
fn boot() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    Some(format!("{} {}", boot.trim(), namespace.display()))
}
