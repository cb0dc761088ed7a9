//! The isolation that a run really has.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::{Nesting, NetworkPolicy, ProbeReport};

/// The isolation of a run that was started, for whoever reports its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IsolationInForce {
    /// The home of the run; it is gone when the run is.
    pub home: PathBuf,
    /// Confinement of commands.
    pub sandbox: SandboxInForce,
    /// Hosts that tools may reach.
    pub network: NetworkPolicy,
    /// The names of the skills mounted.
    pub skills: Vec<String>,
}

/// The confinement of a run's commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "mode")]
#[non_exhaustive]
pub enum SandboxInForce {
    /// In a sandbox that was seen to refuse what it must.
    Sandboxed {
        /// Required strength.
        nesting: Nesting,
        /// Findings of the probe.
        proof: ProbeReport,
    },
    /// In a sandbox that nobody has tried yet: this run is the one that tries it.
    Unproven,
    /// Not at all. Somebody chose that by name.
    OffByChoice,
}

impl fmt::Display for IsolationInForce {
    /// For people: what holds, and whether anybody tried it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let network = self.network.words();
        match &self.sandbox {
            SandboxInForce::Sandboxed { nesting, proof } => {
                let strength = match nesting {
                    Nesting::Strict => "",
                    Nesting::WeakerByChoice => " more weakly, by choice",
                };
                write!(f, "sandboxed{strength}, network {network}; proven: {proof}")
            }
            SandboxInForce::Unproven => write!(f, "sandboxed, network {network}; not proven"),
            SandboxInForce::OffByChoice => f.write_str("none, by choice; a home of its own"),
        }
    }
}
