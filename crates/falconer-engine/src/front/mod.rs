//! The front that looks like the official CLI: flags, formats, exit codes.
//!
//! `open` starts a session from what a process would get, for hosts in this process; `process`
//! is the executable around it.

mod check;
mod debug_log;
mod explain;
mod failure;
mod flags;
mod help;
mod lines;
mod named_json;
mod open;
mod prepare;
mod process;
mod refusal;
mod render;
mod signals;
mod stdin;
mod stdout;
mod surroundings;

pub use debug_log::DebugLog;
pub use explain::{Unexplained, explain};
pub use open::{Exit, Launch, Model, Session, SessionEnd, open};
pub use process::{End, StartDebug, Streams, run_process};
