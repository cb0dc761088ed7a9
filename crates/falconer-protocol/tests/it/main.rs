//! What the wire types promise, checked from outside.

#![recursion_limit = "256"]

// `cfg(test)` tells clippy that the functions between the tests are test code too.
#[cfg(test)]
mod cassette;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod kept;
#[cfg(test)]
mod line_check;
#[cfg(test)]
mod peek;
#[cfg(test)]
mod property;
#[cfg(test)]
mod robust;
#[cfg(test)]
mod speed;
