//! Which isolation a run really has.

use std::path::PathBuf;

use serde::Serialize;

use super::{Nesting, NetworkPolicy, ProbeReport};

/// The isolation of a run that was started, for whoever reports its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IsolationInForce {
    /// The home of the run; it is gone when the run is.
    pub home: PathBuf,
    /// How commands are confined.
    pub sandbox: SandboxInForce,
    /// What tools may reach.
    pub network: NetworkPolicy,
    /// The names of the skills mounted.
    pub skills: Vec<String>,
}

/// How the commands of a run are confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "mode")]
#[non_exhaustive]
pub enum SandboxInForce {
    /// In a sandbox that was seen to refuse what it must.
    Sandboxed {
        /// How strong it has to be.
        nesting: Nesting,
        /// What was tried.
        proof: ProbeReport,
    },
    /// In a sandbox that nobody has tried yet: this run is the one that tries it.
    Unproven,
    /// Not at all. Somebody chose that by name.
    OffByChoice,
}
