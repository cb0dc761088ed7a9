//! The agent loop: asks the model, runs its tools, and speaks the protocol of the official CLI.
//!
//! An engine never prints and never looks at the process it lives in: lines come in and go out
//! through channels, the environment and the working directory are given. So thousands of
//! sessions fit into one process, and the executable `falconer-claude` is a thin front.

mod environment;
mod file_state;
mod frame;
mod front;
mod hook;
mod host;
mod mcp;
mod permission;
mod provider;
mod session;
mod settings;
mod task;
mod tool;
mod transcript;
mod turn;
mod workbench;

pub use front::{
    End, Exit, Launch, Model, Session, SessionEnd, Streams, Unexplained, explain, open, run_process,
};
pub use provider::{ModelTape, Overheard};
pub use session::models::{KNOWN_MODELS, KnownModel};
