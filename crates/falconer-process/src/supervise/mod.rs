//! Processes of which no descendant survives.
//!
//! Two threads that never end do the work, independent of any async runtime. The *spawner*
//! starts processes and nothing else, so that a start never waits for a clean-up; it must live
//! as long as this process because the kernel ties the parent-death signal to the thread that
//! spawned. The *supervisor* watches the processes, runs their ladders, sweeps what they leave
//! behind, and keeps the watchdog informed.

mod child;
#[expect(
    unsafe_code,
    reason = "clone(2) with shared memory, and what its child must call, have no safe interface"
)]
mod exec;
mod guard_list;
mod handle;
mod ladder;
mod marker;
mod output;
mod resolve;
mod spawner;
mod spec;
mod supervisor;
mod sweep;
mod tag;
mod tree;
mod watchdog;

pub(crate) use exec::{Image, Kind, start};
pub use handle::{Exit, ExitStatus, Handle, Supervised};
pub use ladder::Ladder;
pub use marker::HostId;
pub use output::Output;
pub(crate) use spawner::above_stdio;
pub use spawner::spawn;
pub use spec::Spec;
pub use sweep::end_leftovers;
pub use tag::is_supervised;
