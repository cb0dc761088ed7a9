//! Runs processes so that none of their descendants outlives them.
//!
//! [`spawn`] starts a program in a process group of its own and hands out its three pipes and
//! a [`Handle`]. However the program ends, and however its owner ends, everything it started
//! is ended with it:
//!
//! | what happens | who cleans up |
//! |---|---|
//! | [`Handle::end`], or the handle is dropped | the supervisor thread: SIGTERM, then SIGKILL of the tree |
//! | the program exits, crashes or is killed by somebody else | the supervisor thread kills what is left |
//! | this process exits or is killed with SIGKILL | the kernel sends SIGTERM to the program; a watchdog process kills the tree |
//!
//! Descendants are found by their parents (the program is made the reaper of its orphans, so
//! `setsid` and daemonising do not hide them) and by a marker in their environment (which also
//! finds them when the program died first). What escapes is a process that has done all of
//! this: wiped its environment, lost its ancestors, and had the program die before it was asked
//! to end. Whoever reads what the program writes through [`Output`] does not wait for it.
//!
//! Linux 5.4 or newer only. This crate is the only one of the workspace with `unsafe` code.

mod error;
mod supervise;

pub use error::SpawnError;
pub use supervise::{
    Exit, ExitStatus, Handle, HostId, Ladder, Output, Spec, Supervised, end_leftovers, spawn,
};
