//! Bad input and faults, end to end on `falconer-claude`: whatever goes wrong, nothing panics, the
//! exit code is a defined one, nothing is written where it may not be, and no process is left.

mod disk;
mod network;
mod paths;
mod run;
mod server;
mod servers;
mod tools;

pub(crate) use disk::Small;
