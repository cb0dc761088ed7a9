//! Chance that is the same in every run.

use std::time::Duration;

/// A small generator of our own.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: usize) -> Self {
        let seed = u64::try_from(seed).unwrap();
        Self(0x9e37_79b9_7f4a_7c15 ^ (seed + 1).wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    pub(crate) fn time(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(least + self.below(most - least))
    }
}
