//! The agent loop: asks the model, runs its tools, and speaks the protocol of the official CLI.
//!
//! An engine never prints and never looks at the process it lives in: lines come in and go out
//! through channels, the environment and the working directory are given. So thousands of
//! sessions fit into one process, and the executable `falconer-claude` is a thin front.

mod conversation;
mod file_state;
mod frame;
mod front;
mod hook;
mod host;
mod json_file;
mod mcp;
mod permission;
mod session;
mod settings;
mod task;
mod tool;
mod trust;
mod turn;
mod web;
mod workbench;

pub use falconer_model::{KNOWN_MODELS, KnownModel, ModelTape, Overheard};
pub use falconer_process::{Confinement, Unconfined, confinement};
pub use front::{
    DebugLog, End, Exit, Launch, Model, Session, SessionEnd, StartDebug, Streams, Unexplained,
    explain, open, run_process,
};
pub use trust::{
    Grant, GrantedItem, InspectError, InspectedItem, Inspection, ItemKind, Script, Standing,
    TrustError, TrustStore, inspect, state_directory,
};

/// The variables that a command which only reads gets in a session with these.
pub fn variables_for_reading(
    variables: impl IntoIterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    tool::bash::environment::for_reading(&variables.into_iter().collect())
}
