//! Facts about the machine that the plan needs, and the ways to learn them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use falconer_protocol::control::InitializeRequest;

use crate::account::document;
use crate::engine_choice::InProcessEngine;
use crate::error::Error;
use crate::isolation::Facts;
use crate::options::{LaunchOptions, Options, Settings};

use super::environment::environment;
use super::locate::{ThisMachine, locate};
use super::settings_variables::{self, SettingsVariable};
use super::version::{VERSION_TIMEOUT, version_of};
use super::{CliFeature, CliVersion, HostFeatures, LaunchPlan};

/// Limit on the wait for a version nobody asked for.
const UNASKED_VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// The machine an engine is started on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Surroundings {
    /// The executable.
    pub program: PathBuf,
    /// The environment to inherit from.
    pub env: Vec<(OsString, OsString)>,
    /// The user id the engine will run under, where there is such a thing.
    pub uid: Option<u32>,
    /// The version of the executable, if it was learned.
    pub version: Option<CliVersion>,
    /// Reason the version could not be learned, if that was tried.
    pub version_failure: Option<String>,
    /// Variables for authentication that settings files of the machine set, by file.
    pub settings_variables: Vec<SettingsVariable>,
    /// The text of the settings file, if it must be merged with other settings.
    pub settings_file: Option<Result<String, String>>,
    /// Facts that an isolated run needs.
    pub(crate) isolation: Option<Facts>,
}

impl Surroundings {
    /// An executable in an empty environment.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            env: Vec::new(),
            uid: None,
            version: None,
            version_failure: None,
            settings_variables: Vec::new(),
            settings_file: None,
            isolation: None,
        }
    }

    /// The same with this variable in the environment.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The same with this version of the executable.
    #[must_use]
    pub fn with_version(mut self, version: CliVersion) -> Self {
        self.version = Some(version);
        self
    }

    /// The same under this user id.
    #[must_use]
    pub fn with_uid(mut self, uid: u32) -> Self {
        self.uid = Some(uid);
        self
    }

    /// Looks at this machine: finds the executable, asks for its version if an option
    /// depends on it, reads the settings file if it must be merged.
    pub(crate) async fn of_this_machine(
        options: &LaunchOptions,
        host: &HostFeatures,
    ) -> Result<Self, Error> {
        let program = locate(options.process.executable.as_deref(), &ThisMachine)?;
        check_directory(options.environment.cwd.as_deref())?;
        let mut surroundings = Self::new(program);
        surroundings.learn_version(options, host).await?;
        surroundings.look_around(options).await;
        if let Some(config) = &options.isolation {
            let facts = Facts::gather(config, options, &surroundings.env)?;
            surroundings.isolation = Some(facts);
        }
        Ok(surroundings)
    }

    /// Looks at this machine for an engine that needs no executable.
    pub(crate) async fn of_this_process(
        options: &LaunchOptions,
        engine: &dyn InProcessEngine,
    ) -> Result<Self, Error> {
        check_directory(options.environment.cwd.as_deref())?;
        let mut surroundings = Self::new(engine.name());
        surroundings.look_around(options).await;
        Ok(surroundings)
    }

    async fn look_around(&mut self, options: &LaunchOptions) {
        self.env = falconer_process::variables();
        self.uid = user_id();
        let planned = environment(options, &self.env).variables;
        self.settings_variables = settings_variables::read(options, &planned);
        self.settings_file = settings_file(options).await;
    }

    async fn learn_version(
        &mut self,
        options: &LaunchOptions,
        host: &HostFeatures,
    ) -> Result<(), Error> {
        if options.process.check_version {
            self.version = Some(version_of(&self.program, VERSION_TIMEOUT).await?);
        } else if !CliFeature::used_by(options, host).is_empty() {
            match version_of(&self.program, UNASKED_VERSION_TIMEOUT).await {
                Ok(version) => self.version = Some(version),
                Err(error) => self.version_failure = Some(error.to_string()),
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such id")]
fn user_id() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn user_id() -> Option<u32> {
    None
}

/// Refuses a working directory that the engine could not be started in.
fn check_directory(path: Option<&Path>) -> Result<(), Error> {
    let Some(path) = path else { return Ok(()) };
    let usable = std::fs::metadata(path).and_then(|metadata| {
        if metadata.is_dir() {
            Ok(())
        } else {
            Err(std::io::ErrorKind::NotADirectory.into())
        }
    });
    usable.map_err(|source| Error::WorkingDirectory {
        path: path.to_owned(),
        source,
    })
}

/// The text of the settings file, if a sandbox must be merged into it.
async fn settings_file(options: &LaunchOptions) -> Option<Result<String, String>> {
    let settings = &options.settings;
    let Some(Settings::File(path)) = &settings.settings else {
        return None;
    };
    if settings.sandbox.is_none() && options.isolation.is_none() {
        return None;
    }
    // The engine reads it relative to its own directory.
    let cwd = options.environment.cwd.as_deref().unwrap_or(Path::new(""));
    let path = cwd.join(path);
    let read = tokio::task::spawn_blocking(move || document::text(&path)).await;
    Some(match read {
        Ok(text) => text.map_err(|problem| problem.to_string()),
        Err(error) => Err(error.to_string()),
    })
}

impl Options {
    /// Plans the launch on this machine without starting the engine.
    ///
    /// The plan prints as a command line with secrets masked:
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), falconer::Error> {
    /// let plan = falconer::Options::new().model("sonnet").dry_run().await?;
    /// println!("{plan}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As a query would fail before it starts anything: [`Error::CliNotFound`],
    /// [`Error::CliUnusable`], [`Error::WorkingDirectory`], [`Error::CliVersion`],
    /// [`Error::InvalidOptions`].
    pub async fn dry_run(&self) -> Result<LaunchPlan, Error> {
        let host = self.host_features();
        self.plan_here(&host).await
    }

    /// The first request an engine is sent, for transports that start none.
    pub(crate) fn initialize_request(&self, host: &HostFeatures) -> InitializeRequest {
        super::initialize::request(&self.launch, host)
    }

    /// Looks at this machine and plans the launch.
    pub(crate) async fn plan_here(&self, host: &HostFeatures) -> Result<LaunchPlan, Error> {
        let surroundings = match &self.engine {
            Some(engine) => Surroundings::of_this_process(&self.launch, engine.as_ref()).await?,
            None => Surroundings::of_this_machine(&self.launch, host).await?,
        };
        self.plan(host, &surroundings)
    }

    /// Asks the executable for its version, at most once per file and process.
    ///
    /// # Errors
    ///
    /// [`Error::CliNotFound`], [`Error::CliUnusable`] or [`Error::CliVersion`].
    pub async fn cli_version(&self) -> Result<CliVersion, Error> {
        let program = locate(self.launch.process.executable.as_deref(), &ThisMachine)?;
        version_of(&program, VERSION_TIMEOUT).await
    }
}
