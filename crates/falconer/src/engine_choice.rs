//! Engines that run in this process, instead of the official CLI as a child process.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::error::Error;
use crate::launch::LaunchPlan;
use crate::options::Options;
use crate::transport::{Link, StderrCallback, Transport};

/// An engine that needs no process of its own; see [`Options::engine`].
///
/// One value opens many sessions, at the same time and from several threads.
pub trait InProcessEngine: fmt::Debug + Send + Sync + 'static {
    /// Returns its name for dry runs and messages.
    fn name(&self) -> &str;

    /// Starts a session and hands out both lanes and the handle on its life.
    ///
    /// A session that refuses to start says so as the CLI does: in a result, on stderr, and by
    /// its exit code. Dropping the future must leave nothing running.
    fn open(&self, launch: EngineLaunch) -> BoxFuture<'static, Result<Link, Error>>;
}

/// The launch of a session: arguments, environment and directory, as a process would get them.
///
/// `Debug` shows the arguments and names of variables, not their values.
#[derive(Clone)]
#[non_exhaustive]
pub struct EngineLaunch {
    /// The arguments, each flag with its value in one.
    pub args: Vec<OsString>,
    /// The whole environment, sorted by name.
    pub env: Vec<(OsString, OsString)>,
    /// Working directory of the session.
    pub cwd: PathBuf,
    /// Wants every line of stderr.
    pub on_stderr: Option<StderrCallback>,
    /// Number of lines of stderr to keep for error texts.
    pub stderr_lines: usize,
}

impl EngineLaunch {
    /// A launch in this directory, without arguments and variables.
    #[must_use]
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            args: Vec::new(),
            env: Vec::new(),
            cwd: cwd.into(),
            on_stderr: None,
            stderr_lines: 0,
        }
    }
}

impl fmt::Debug for EngineLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("EngineLaunch")
            .field("args", &self.args.len())
            .field("env", &names)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

impl Options {
    /// Runs this engine, in this process, instead of the official CLI.
    ///
    /// No executable is looked for and no version is asked; [`Options::executable`] and
    /// [`Options::check_version`] have no effect. Everything else means the same.
    #[must_use]
    pub fn engine(self, engine: impl InProcessEngine) -> Self {
        self.shared_engine(Arc::new(engine))
    }

    /// As [`Options::engine`], for an engine that others use too.
    #[must_use]
    pub fn shared_engine(mut self, engine: Arc<dyn InProcessEngine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Returns `false` if an engine of this process runs instead of the official CLI.
    #[must_use]
    pub fn runs_cli(&self) -> bool {
        self.engine.is_none()
    }
}

/// A planned session of an engine in this process.
pub(crate) struct InProcess {
    engine: Arc<dyn InProcessEngine>,
    launch: EngineLaunch,
}

impl InProcess {
    pub(crate) fn new(
        engine: Arc<dyn InProcessEngine>,
        options: &Options,
        plan: &LaunchPlan,
    ) -> Result<Self, Error> {
        let cwd = match &plan.cwd {
            Some(cwd) => std::path::absolute(cwd),
            None => std::env::current_dir(),
        };
        let cwd = cwd.map_err(|source| Error::WorkingDirectory {
            path: plan.cwd.clone().unwrap_or_else(|| PathBuf::from(".")),
            source,
        })?;
        let launch = EngineLaunch {
            args: plan.args.clone(),
            env: plan.env.clone(),
            on_stderr: options.handlers.stderr.clone(),
            stderr_lines: options.limits.stderr_lines,
            ..EngineLaunch::new(cwd)
        };
        Ok(Self { engine, launch })
    }
}

impl Transport for InProcess {
    fn open(self: Box<Self>) -> BoxFuture<'static, Result<Link, Error>> {
        self.engine.open(self.launch)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::transport::channel;
    use crate::{Client, Options};

    /// Keeps the launch it was given and refuses to answer anything.
    #[derive(Debug, Default)]
    struct Noting(Arc<Mutex<Option<EngineLaunch>>>);

    impl InProcessEngine for Noting {
        fn name(&self) -> &str {
            "noting"
        }

        fn open(&self, launch: EngineLaunch) -> BoxFuture<'static, Result<Link, Error>> {
            *self.0.lock().unwrap() = Some(launch);
            let (transport, _engine) = channel();
            Box::new(transport).open()
        }
    }

    #[tokio::test]
    async fn an_engine_in_process_gets_the_plan_and_no_executable_is_looked_for() {
        let noting = Noting::default();
        let noted = noting.0.clone();
        let directory = tempfile::tempdir().unwrap();
        let options = Options::new()
            .executable("/nowhere/claude")
            .check_version()
            .cwd(directory.path())
            .env("MARK", "1")
            .model("sonnet")
            .engine(noting);
        assert!(format!("{options:?}").contains("noting"));
        let plan = options.dry_run().await.unwrap();
        assert_eq!(plan.program, PathBuf::from("noting"));
        // The engine is gone before it answers.
        assert!(Client::connect(options).await.is_err());
        let launch = noted.lock().unwrap().take().unwrap();
        assert_eq!(launch.args, plan.args);
        assert_eq!(launch.env, plan.env);
        assert_eq!(launch.cwd, directory.path());
        assert!(launch.args.contains(&"--model=sonnet".into()));
        assert!(launch.env.contains(&("MARK".into(), "1".into())));
        assert!(!format!("{launch:?}").contains("sonnet"));
    }

    #[tokio::test]
    async fn a_missing_directory_is_found_before_the_engine_is_asked() {
        let noting = Noting::default();
        let noted = noting.0.clone();
        let options = Options::new().cwd("/nowhere/at/all").engine(noting);
        let error = Client::connect(options).await.unwrap_err();
        assert!(matches!(error, Error::WorkingDirectory { .. }), "{error}");
        assert!(noted.lock().unwrap().is_none());
    }
}
