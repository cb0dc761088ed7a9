//! The configuration of an isolated run.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::SecretString;

use super::{IsolationError, NetworkPolicy, Sandbox, Skill};
use crate::options::{Auth, EnvironmentChange, Options};

/// The part of the host that an isolated run sees. The default: its own credentials as the host has
/// them, a sandbox around commands, no network for tools.
///
/// It only records. What is missing or wrong is found before anything is started, with an
/// [`IsolationError`](super::IsolationError) or the problems of the options.
///
/// ```
/// use falconer::isolation::{IsolationConfig, SandboxConfig, Skill};
///
/// let isolation = IsolationConfig::for_anthropic_api()
///     .sandbox(SandboxConfig::new().writable_path("/var/cache/build"))
///     .skill(Skill::new("skills/release-notes"))
///     .confined_to("/srv/projects");
/// # let _ = isolation;
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct IsolationConfig {
    pub(super) credentials: Credentials,
    pub(super) network: NetworkPolicy,
    pub(super) sandbox: Sandbox,
    pub(super) changes: Vec<EnvironmentChange>,
    pub(super) skills: Vec<Skill>,
    pub(super) aws_directory: Option<PathBuf>,
    pub(super) root: Option<PathBuf>,
    pub(super) homes: Option<PathBuf>,
    pub(super) probing: Probing,
    pub(super) proof_age: ProofAge,
    pub(super) probe_limit: ProbeLimit,
}

/// The time for which a proof counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProofAge(pub(super) Duration);

impl Default for ProofAge {
    fn default() -> Self {
        Self(Duration::from_secs(600))
    }
}

/// The limit on a probe.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProbeLimit(pub(super) Duration);

impl Default for ProbeLimit {
    /// More than a loaded machine needs to start the engine and run two commands.
    fn default() -> Self {
        Self(Duration::from_secs(90))
    }
}

/// Whose credentials the run gets.
#[derive(Debug, Clone, Default)]
pub(super) enum Credentials {
    /// Those of the host, whatever they are; there must be some.
    #[default]
    Host,
    /// A key or token for the Anthropic API of the host; never a cloud provider.
    AnthropicOfHost,
    /// These.
    Given(Auth),
}

/// The choice to try the sandbox first or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Probing {
    #[default]
    Needed,
    /// This is the probe.
    Itself,
}

impl IsolationConfig {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }

    /// The credentials of the host: Bedrock if it is switched on, else a key or token, else a
    /// login. The run does not start if there is none.
    pub fn inherit_host_auth() -> Self {
        Self::default()
    }

    /// This key for the Anthropic API; Bedrock and Vertex are off.
    pub fn with_api_key(key: impl Into<SecretString>) -> Self {
        Self::with_auth(Auth::ApiKey(key.into()))
    }

    /// A key or token of the host for the Anthropic API. The run does not start if there is
    /// none; Bedrock and Vertex are off.
    pub fn for_anthropic_api() -> Self {
        Self {
            credentials: Credentials::AnthropicOfHost,
            ..Self::default()
        }
    }

    /// Amazon Bedrock with the AWS variables and configuration of the host.
    pub fn for_bedrock() -> Self {
        Self::with_auth(Auth::Bedrock { region: None })
    }

    /// Any other way to authenticate.
    pub fn with_auth(auth: Auth) -> Self {
        Self {
            credentials: Credentials::Given(auth),
            ..Self::default()
        }
    }

    /// Sets the hosts that tools may reach. Default: none.
    pub fn network(mut self, policy: NetworkPolicy) -> Self {
        self.network = policy;
        self
    }

    /// Sets the exceptions of the sandbox. Default:
    /// [`SandboxConfig::new`](super::SandboxConfig::new).
    pub fn sandbox(mut self, sandbox: super::SandboxConfig) -> Self {
        self.sandbox = Sandbox::Required(sandbox);
        self
    }

    /// Chooses a sandbox, or none by name.
    pub fn sandbox_mode(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets a variable of the run.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let change = EnvironmentChange::Set(name.into(), value.into());
        self.changes.push(change);
        self
    }

    /// Hands a variable of the host on, for example `HTTPS_PROXY`.
    pub fn inherit_variable(mut self, name: impl Into<OsString>) -> Self {
        self.changes.push(EnvironmentChange::Keep(name.into()));
        self
    }

    /// Mounts a skill into the home.
    pub fn skill(mut self, skill: Skill) -> Self {
        self.skills.push(skill);
        self
    }

    /// Takes AWS configuration from here, for Bedrock. Default: `~/.aws` if it is there.
    pub fn aws_directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.aws_directory = Some(path.into());
        self
    }

    /// Refuses working directories outside of this one.
    pub fn confined_to(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = Some(root.into());
        self
    }

    /// Makes homes in this directory. Default: the system's directory for temporary files.
    pub fn homes_in(mut self, directory: impl Into<PathBuf>) -> Self {
        self.homes = Some(directory.into());
        self
    }

    /// Tries the sandbox again when the last proof is older than this. Default: ten minutes.
    ///
    /// Only a success is remembered, only in this process, and only for the same engine,
    /// sandbox programs, kernel, `PATH` and settings. Zero tries it before every run.
    pub fn proof_age(mut self, age: Duration) -> Self {
        self.proof_age = ProofAge(age);
        self
    }

    /// Sets the limit on trying the sandbox before the run is refused. Default: 90 s.
    pub fn probe_limit(mut self, limit: Duration) -> Self {
        self.probe_limit = ProbeLimit(limit);
        self
    }

    /// Refuses a machine on which the sandbox asked for cannot be had, given its `PATH`. Nothing is
    /// started: whether a sandbox protects is found out before the run.
    ///
    /// # Errors
    ///
    /// [`IsolationError::MissingProgram`] or [`IsolationError::Unsupported`].
    pub fn check_machine(&self, path: Option<&OsStr>) -> Result<(), IsolationError> {
        super::sandbox::check(&self.sandbox, path)
    }

    /// Returns the directory in which homes are made.
    pub(crate) fn homes(&self) -> PathBuf {
        self.homes.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// The same policy for a run that only tries out what `outside` and the network refuse.
    pub(super) fn for_probe(&self, outside: &Path) -> Self {
        let mut sandbox = self.sandbox.clone();
        if let Sandbox::Required(sandbox) = &mut sandbox {
            let covered = |path: &PathBuf| outside.starts_with(path);
            if sandbox.writable.iter().any(covered) {
                sandbox.unwritable.push(outside.to_owned());
            }
        }
        Self {
            credentials: Credentials::Given(Auth::ApiKey("sk-ant-probe-of-the-sandbox".into())),
            network: self.network.clone(),
            sandbox,
            homes: self.homes.clone(),
            probing: Probing::Itself,
            ..Self::default()
        }
    }

    /// Returns `true` if the sandbox has to be tried before the run.
    pub(crate) fn needs_probe(&self) -> bool {
        self.probing == Probing::Needed && matches!(self.sandbox, Sandbox::Required(_))
    }
}

impl Options {
    /// Isolates the run from the host: a fresh home, an environment from an allowlist, chosen
    /// credentials, and a sandbox with closed network around commands.
    ///
    /// Default: none; the run sees what this process sees. Not together with
    /// [`Options::sandbox`], which it replaces, nor with a `HOME` of the caller.
    #[must_use]
    pub fn isolation(mut self, config: IsolationConfig) -> Self {
        self.launch.isolation = Some(Box::new(config));
        self
    }
}
