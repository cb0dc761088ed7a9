//! From options to the start of an engine.
//!
//! `surroundings` looks at the machine: where the executable is, its version, the
//! environment. `check` and `plan` are pure: options, what the handlers need, and the
//! surroundings in; program, arguments, environment and the first request out. Starting a
//! process is the transport's business.

mod arguments;
mod check;
mod dry_run;
mod environment;
mod initialize;
mod locate;
mod plan;
mod problem;
pub(crate) mod redact;
mod settings;
mod settings_variables;
mod surroundings;
mod version;

pub use locate::{ExecutableProblem, NamedBy, find_cli};
pub use plan::{HostFeatures, LaunchPlan, LaunchWarning, SdkServer};
pub use problem::{OptionProblem, OptionProblems};
pub use settings_variables::SettingsVariable;
pub use surroundings::Surroundings;
pub use version::feature::{CliFeature, Support};
pub use version::{
    CliVersion, OLDEST_CLI_VERSION, TESTED_CLI_VERSION, UnreadableVersion, VersionProblem,
};
