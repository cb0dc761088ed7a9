//! The plan of a launch: what will be started, and what it is told first.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use falconer_protocol::control::{InitializeRequest, SdkMcpServerConfig, SdkMcpServerManifest};
use falconer_protocol::hook::{HookEvent, HookMatcher};

use crate::account::models;
use crate::error::Error;
use crate::isolation::{self, IsolationPlan};
use crate::options::{Auth, Billing, Options, Settings};

use super::version::{OLDEST_CLI_VERSION, TESTED_CLI_VERSION};
use super::{
    CliFeature, CliVersion, OptionProblem, Support, Surroundings, arguments, check, environment,
    initialize, settings,
};

/// The consequences of a run's handlers for its start.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HostFeatures {
    /// Permission questions are answered by this program.
    pub prompts_permissions: bool,
    /// Hooks to register, by event.
    pub hooks: BTreeMap<HookEvent, Vec<HookMatcher>>,
    /// MCP servers inside this program.
    pub sdk_servers: Vec<SdkServer>,
    /// Kinds of dialogs this program can show.
    pub dialog_kinds: Vec<String>,
    /// Transcripts are mirrored to a store of this program.
    pub mirrors_session: bool,
}

/// An MCP server inside this program.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SdkServer {
    /// Its name.
    pub name: String,
    /// Settings for it, for example a timeout.
    pub config: Option<SdkMcpServerConfig>,
    /// Answers to `initialize` and `tools/list`, which save round trips.
    pub manifest: Option<SdkMcpServerManifest>,
}

impl SdkServer {
    /// A server without settings and manifest.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// Everything that is needed to start an engine.
///
/// `Display` prints it as a command line with secrets masked; `Debug` does the same.
#[derive(Clone)]
#[non_exhaustive]
pub struct LaunchPlan {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments, each flag with its value in one.
    pub args: Vec<OsString>,
    /// Its whole environment, sorted by name.
    pub env: Vec<(OsString, OsString)>,
    /// Working directory; that of this process if not set.
    pub cwd: Option<PathBuf>,
    /// The first request it is sent.
    pub initialize: InitializeRequest,
    /// Payer of the run.
    pub billing: Billing,
    /// Warnings for the caller.
    pub warnings: Vec<LaunchWarning>,
    /// Isolation of the run, if it has one.
    pub isolation: Option<IsolationPlan>,
    pub(super) inherited: Vec<(OsString, OsString)>,
    pub(super) environment_cleared: bool,
    /// Settings with secrets, for a file that nobody else can read.
    pub(crate) private_settings: Option<Settings>,
}

impl LaunchPlan {
    /// The value of a variable in the environment of the engine.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let name = OsStr::new(name);
        let found = self.env.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_os_str())
    }
}

/// Something that will work differently than one may expect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchWarning {
    /// The version is newer than any tested.
    #[error(
        "claude {found} is newer than {TESTED_CLI_VERSION}, the newest version falconer is \
         tested with; update falconer if something is odd"
    )]
    NewerThanTested {
        /// The version found.
        found: CliVersion,
    },
    /// The version is older than the tested one.
    #[error(
        "claude {found} is older than {TESTED_CLI_VERSION}, the version falconer is tested \
         with; run `claude update` if something is odd"
    )]
    OlderThanTested {
        /// The version found.
        found: CliVersion,
    },
    /// It is not known whether this version can do what an option asks.
    #[error("claude {found} may not support {feature}; run `claude update`")]
    UnknownSupport {
        /// Feature that the options need.
        feature: CliFeature,
        /// The version found.
        found: CliVersion,
    },
    /// The version could not be learned, so options were not compared with it.
    #[error("options were not compared with the version of claude: {reason}")]
    VersionUnknown {
        /// Reason.
        reason: String,
    },
    /// The permission handler will not be asked about some calls.
    #[error(
        "the permission handler will not be asked about {what}; use a PreToolUse hook for that"
    )]
    HandlerShadowed {
        /// Calls that are affected.
        what: String,
    },
    /// A variable looks like a credential of another way to authenticate and was removed.
    #[error("{name} is not passed on, because another way to authenticate was chosen")]
    CredentialRemoved {
        /// The variable.
        name: String,
    },
    /// The model is not in the list of model names.
    #[error("model {name:?} is not in the list of model names; it is passed on as it is")]
    UnknownModel {
        /// Its name.
        name: String,
    },
    /// The sandbox may be missing.
    #[error(
        "commands run without a sandbox if none can be had; remove `allow_unsandboxed_fallback` \
         to refuse that"
    )]
    UnsandboxedFallback,
}

impl Options {
    /// Plans the launch for given surroundings, without looking at the machine.
    ///
    /// `host` says what the handlers of the run need. This is what a query does before it
    /// starts an engine; call it yourself to start an engine elsewhere, for example in a
    /// container.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOptions`] with everything that is contradictory, impossible or not
    /// supported by the version of the executable.
    pub fn plan(
        &self,
        host: &HostFeatures,
        surroundings: &Surroundings,
    ) -> Result<LaunchPlan, Error> {
        let (mut launch, isolation) = match &self.launch.isolation {
            None => (self.launch.clone(), None),
            Some(config) => {
                let (launch, plan) = isolation::apply(&self.launch, config, surroundings)?;
                (launch, Some(plan))
            }
        };
        let environment = environment::environment(&launch, &surroundings.env);
        if environment.uses_bedrock() && self.engine.is_some() {
            // The official CLI has a default of its own.
            models::set_default(&mut launch, &Auth::Bedrock { region: None });
        }
        let model_warnings = models::adapt(&mut launch, environment.uses_bedrock());
        let mut problems = check::problems(&launch, host, surroundings);
        let features = CliFeature::used_by(&launch, host);
        problems.extend(unsupported(&features, surroundings.version.as_ref()));
        let pins = environment::pins(&launch, &environment, surroundings);
        let settings = settings::value(&launch.settings, &pins.variables, surroundings);
        let settings = settings.unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        // Everybody can read the arguments of a process; those of an engine in this one stay here.
        let (settings, private_settings) = if pins.is_secret && self.engine.is_none() {
            (None, settings)
        } else {
            (settings, None)
        };
        let args = arguments::arguments(&launch, host, settings.as_ref());
        problems.extend(check::argument_problems(&args));
        if !problems.is_empty() {
            return Err(Error::InvalidOptions {
                problems: problems.into(),
            });
        }
        let mut warnings = version_warnings(&features, surroundings);
        warnings.extend(environment.warnings);
        warnings.extend(model_warnings);
        warnings.extend(check::warnings(&launch, host));
        Ok(LaunchPlan {
            program: surroundings.program.clone(),
            args,
            env: environment.variables,
            cwd: launch.environment.cwd.clone(),
            initialize: initialize::request(&launch, host),
            billing: environment.billing,
            warnings,
            isolation,
            inherited: surroundings.env.clone(),
            environment_cleared: launch.environment.cleared,
            private_settings,
        })
    }
}

impl LaunchWarning {
    /// The warning that a version of the CLI deserves, if it is not the one that is tested.
    #[must_use]
    pub fn of_version(found: &CliVersion) -> Option<Self> {
        let found = found.clone();
        match found.cmp(&TESTED_CLI_VERSION) {
            Ordering::Less => Some(Self::OlderThanTested { found }),
            Ordering::Equal => None,
            Ordering::Greater => Some(Self::NewerThanTested { found }),
        }
    }
}

fn unsupported(features: &[CliFeature], version: Option<&CliVersion>) -> Vec<OptionProblem> {
    let Some(version) = version else {
        return Vec::new();
    };
    if *version < OLDEST_CLI_VERSION {
        return vec![OptionProblem::CliTooOld {
            found: version.clone(),
        }];
    }
    let missing = features
        .iter()
        .filter(|feature| feature.support(version) == Support::No);
    missing
        .map(|feature| OptionProblem::NeedsNewerCli {
            feature: *feature,
            found: version.clone(),
        })
        .collect()
}

fn version_warnings(features: &[CliFeature], surroundings: &Surroundings) -> Vec<LaunchWarning> {
    let mut warnings = Vec::new();
    if let Some(reason) = &surroundings.version_failure {
        let reason = reason.clone();
        warnings.push(LaunchWarning::VersionUnknown { reason });
    }
    let Some(found) = surroundings.version.clone() else {
        return warnings;
    };
    warnings.extend(LaunchWarning::of_version(&found));
    let unknown = features
        .iter()
        .filter(|feature| feature.support(&found) == Support::Unknown);
    warnings.extend(unknown.map(|feature| LaunchWarning::UnknownSupport {
        feature: *feature,
        found: found.clone(),
    }));
    warnings
}

#[cfg(test)]
mod tests;
