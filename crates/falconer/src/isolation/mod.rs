//! Runs that see nothing of the host but what they are given.
//!
//! An isolated run of the official CLI has a fresh home of its own (mode 0700) with generated
//! settings, the skills mounted and the credentials chosen; an environment made from an
//! allowlist; and, unless it was switched off by name, a sandbox around commands whose
//! network is closed. Before such a run is started, a probe makes the CLI try what is
//! forbidden, and the run is refused if it succeeds. The home is deleted at the end; what a
//! crash leaves behind is swept at the next start.
//!
//! ```
//! use falconer::Options;
//! use falconer::isolation::{IsolationConfig, NetworkPolicy};
//!
//! let isolation = IsolationConfig::with_api_key("sk-ant-example")
//!     .network(NetworkPolicy::with_domains(["docs.rs"]));
//! let options = Options::new().isolation(isolation);
//! # let _ = options;
//! ```

mod config;
mod confine;
mod credentials;
mod environment;
mod error;
mod furnish;
mod home;
mod in_force;
mod network;
mod plan;
mod probe;
mod sandbox;
mod settings;
mod skill;
mod start;

pub use config::IsolationConfig;
pub use confine::{Escape, confine};
pub use error::IsolationError;
pub use home::{Home, sweep};
pub use in_force::{IsolationInForce, SandboxInForce};
pub use network::NetworkPolicy;
pub use plan::IsolationPlan;
pub use probe::{ProbeReport, Proof};
pub use sandbox::{Nesting, Sandbox, SandboxConfig};
pub use skill::{Skill, SkillProblem};

pub(crate) use plan::{Facts, apply};
pub(crate) use start::{blocking, settle};
