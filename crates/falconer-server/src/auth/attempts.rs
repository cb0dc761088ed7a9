//! Wrong credentials, counted by address.
//!
//! A right token always passes: on one machine everybody has the same address, and whoever
//! guesses must not lock the others out. Tokens have 256 bits; the count makes guessing loud and
//! slow. Login codes are stricter: after too many wrong ones, none is looked at for a while.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_secs(60);
/// More addresses than this are not kept apart.
const MOST: usize = 10_000;

/// Counts failures.
#[derive(Debug)]
pub(crate) struct Attempts {
    allowed: u32,
    by_peer: Mutex<HashMap<IpAddr, Count>>,
}

#[derive(Debug, Clone, Copy)]
struct Count {
    since: Instant,
    failures: u32,
}

/// Whether a peer may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Fine,
    /// For so many seconds not.
    Blocked(u64),
}

impl Attempts {
    pub(crate) fn new(allowed: u32) -> Self {
        Self {
            allowed,
            by_peer: Mutex::default(),
        }
    }

    /// Whether this peer failed too often, without counting.
    pub(crate) fn standing(&self, peer: IpAddr, now: Instant) -> Standing {
        let counts = self
            .by_peer
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        counts
            .get(&key(peer))
            .map_or(Standing::Fine, |count| count.standing(self.allowed, now))
    }

    /// Counts a failure.
    pub(crate) fn failed(&self, peer: IpAddr, now: Instant) -> Standing {
        let mut counts = self
            .by_peer
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        if counts.len() >= MOST {
            counts.retain(|_, count| now.duration_since(count.since) < WINDOW);
            if counts.len() >= MOST {
                return Standing::Blocked(WINDOW.as_secs());
            }
        }
        let count = counts.entry(key(peer)).or_insert(Count {
            since: now,
            failures: 0,
        });
        if now.duration_since(count.since) >= WINDOW {
            *count = Count {
                since: now,
                failures: 0,
            };
        }
        count.failures = count.failures.saturating_add(1);
        count.standing(self.allowed, now)
    }
}

impl Count {
    fn standing(&self, allowed: u32, now: Instant) -> Standing {
        let age = now.duration_since(self.since);
        if self.failures > allowed && age < WINDOW {
            Standing::Blocked((WINDOW - age).as_secs().max(1))
        } else {
            Standing::Fine
        }
    }
}

/// One customer has 2^64 addresses of IPv6: they count as one.
fn key(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let bits = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(bits.into())
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_blocked_for_a_while_and_others_are_not() {
        let attempts = Attempts::new(3);
        let start = Instant::now();
        let peer: IpAddr = "10.0.0.1".parse().unwrap();
        for _ in 0..3 {
            assert_eq!(attempts.failed(peer, start), Standing::Fine);
        }
        assert_eq!(attempts.failed(peer, start), Standing::Blocked(60));
        assert_eq!(attempts.standing(peer, start), Standing::Blocked(60));
        assert_eq!(
            attempts.standing("10.0.0.2".parse().unwrap(), start),
            Standing::Fine
        );
        let later = start + WINDOW;
        assert_eq!(attempts.standing(peer, later), Standing::Fine);
        assert_eq!(attempts.failed(peer, later), Standing::Fine);
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_peer() {
        let attempts = Attempts::new(0);
        let now = Instant::now();
        attempts.failed("2001:db8::1".parse().unwrap(), now);
        let neighbour = attempts.standing("2001:db8::ffff".parse().unwrap(), now);
        assert_ne!(neighbour, Standing::Fine);
        let mapped = attempts.failed("::ffff:10.0.0.1".parse().unwrap(), now);
        assert_ne!(mapped, Standing::Fine);
        assert_ne!(
            attempts.standing("10.0.0.1".parse().unwrap(), now),
            Standing::Fine
        );
    }

    #[test]
    fn memory_is_bounded() {
        let attempts = Attempts::new(1);
        let now = Instant::now();
        for number in 0..20_000u32 {
            attempts.failed(IpAddr::V4(number.into()), now);
        }
        assert!(attempts.by_peer.lock().unwrap().len() <= MOST);
    }
}
