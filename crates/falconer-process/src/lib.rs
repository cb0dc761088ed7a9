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
//! Descendants are found in three ways: by their parents (the program is made the reaper of its
//! orphans, so `setsid` and daemonising do not hide them), by a marker in their environment, and
//! by a resource limit without effect that every child inherits and `execve` keeps (so `env -i`
//! does not hide them, either). What escapes is a process that has done all of this before the
//! program ended: wiped its environment, lowered that limit (or raised it, as root), and lost its
//! ancestors; and one that runs as a user whom we may not signal. Whoever reads what the program
//! writes through [`Output`] does not wait for it.
//!
//! A program may also be [confined](confinement) to reading. [`no_links`] opens and replaces files
//! without following a link, for whoever judged a path before.
//!
//! Linux 5.4 or newer only. This crate is the only one of the workspace with `unsafe` code.

mod confine;
mod error;
pub mod no_links;
#[expect(
    unsafe_code,
    reason = "overwriting the memory where the kernel put the environment has no safe interface"
)]
mod seal;
mod supervise;

pub use confine::{Confinement, Unconfined, confinement};
pub use error::SpawnError;
pub use seal::{seal, variables};
pub use supervise::{
    Exit, ExitStatus, Handle, HostId, Ladder, Output, Spec, Supervised, end_leftovers,
    is_supervised, spawn,
};
