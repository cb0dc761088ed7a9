//! A session as its host sees it: lanes of lines, and a handle on its end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use falconer_model::{Provider, ProviderSettings, Renewable, Scripted};
use falconer_protocol::SessionId;
use falconer_scenario::Scenario;
use falconer_secret::{Environment, Redactor};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::sync::mpsc;

use super::check::check;
use super::failure::{FailureResults, StartupFailure};
use super::flags::{Flags, InputFormat};
use super::prepare::{Draft, User};
use super::surroundings;

use crate::session::config::{Input, SessionConfig, Start};
use crate::session::{self, Refused, Stop};
use crate::settings::Settings;

/// How many lines a host may write to a session that was refused.
const UNREAD: usize = 16;

/// What a process would be started with.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The arguments, without the name of the program.
    pub args: Vec<OsString>,
    /// All variables the session sees.
    pub env: Vec<(OsString, OsString)>,
    /// Where it works; absolute.
    pub cwd: PathBuf,
    /// Takes secrets out of what the session writes to disk, and learns those it comes to know.
    pub redactor: Redactor,
}

/// Who answers as the model.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Model {
    /// The service that the environment and the settings name.
    #[default]
    FromEnvironment,
    /// A script, for this session alone.
    Scripted(Box<Scenario>),
}

/// How a session ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code of a process.
    pub code: i32,
    /// What is to be said to people, line by line.
    pub stderr: Vec<String>,
}

/// A session that has been opened.
#[derive(Debug)]
pub struct Session {
    /// Lines of the host, each with its newline. Dropping it ends the input.
    pub input: mpsc::Sender<Bytes>,
    /// Lines for the host, each with its newline. Closed when nothing more comes.
    pub output: mpsc::Receiver<Bytes>,
    /// What people should know before anything happens.
    pub warnings: Vec<String>,
    /// Its end.
    pub end: SessionEnd,
}

/// A handle on the end of a session. Cheap to clone.
#[derive(Clone)]
pub struct SessionEnd {
    stop: Stop,
    ended: Shared<BoxFuture<'static, Exit>>,
    /// The input of a session that was refused: its host writes before it reads why.
    unread: Option<Arc<mpsc::Receiver<Bytes>>>,
}

impl std::fmt::Debug for SessionEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionEnd").finish_non_exhaustive()
    }
}

impl SessionEnd {
    fn new(stop: Stop, ended: BoxFuture<'static, Exit>) -> Self {
        Self {
            stop,
            ended: ended.shared(),
            unread: None,
        }
    }

    /// Aborts the turn as SIGINT does: its result is told, then the session ends.
    pub fn interrupt(&self) {
        self.stop.interrupt();
    }

    /// Ends the session as SIGTERM does: nothing more is told, what runs is killed.
    pub fn terminate(&self) {
        self.stop.terminate();
    }

    /// Waits for the end.
    pub async fn wait(&self) -> Exit {
        self.ended.clone().await
    }
}

/// Opens a session that talks in lines, as the official SDKs do.
///
/// A session that refuses to start is a session too: it tells why, as the official CLI does, and
/// ends with code 1. Must be called on a runtime.
#[must_use]
pub fn open(launch: Launch, model: Model) -> Session {
    let environment = Arc::new(Environment::with_redactor(launch.env, launch.redactor));
    let results = failure_results(&environment);
    let opened = Flags::parse(launch.args)
        .map_err(StartupFailure::from)
        .and_then(|flags| {
            check(&flags)?;
            let input = lines(&flags)?;
            let mut prepared = prepare(flags, input, environment, &launch.cwd, model)?;
            // Nobody reads a stderr here.
            prepared.config.notices.clone_from(&prepared.warnings);
            // Nobody here takes it for the official CLI.
            prepared.config.output.tool_schemas = true;
            Ok(prepared)
        });
    match opened.and_then(start) {
        Ok(session) => session,
        Err(failure) => refused(&failure, results),
    }
}

fn lines(flags: &Flags) -> Result<Input, StartupFailure> {
    match flags.input_format {
        InputFormat::StreamJson => Ok(Input::Lines {
            await_initialize: flags.await_initialize,
        }),
        InputFormat::Text => Err(StartupFailure::error(
            "a session in this process needs --input-format=stream-json",
        )),
    }
}

pub(super) fn failure_results(environment: &Environment) -> FailureResults {
    if environment.is_on("CLAUDE_CODE_STARTUP_FAILURE_RESULTS") {
        FailureResults::Wanted
    } else {
        FailureResults::Unasked
    }
}

/// A session that can be started.
#[derive(Debug)]
pub(super) struct Prepared {
    config: SessionConfig,
    warnings: Vec<String>,
}

/// Looks at the machine and puts everything together.
pub(super) fn prepare(
    mut flags: Flags,
    input: Input,
    environment: Arc<Environment>,
    cwd: &Path,
    model: Model,
) -> Result<Prepared, StartupFailure> {
    let warnings = std::mem::take(&mut flags.warnings);
    let draft = Draft::of(flags, &environment, cwd, User::current())?;
    let found = surroundings::look(draft.settings(), &environment, cwd)?;
    let provider = provider(model, &environment, &found.settings, cwd)?;
    let config = draft.into_config(input, environment, provider, found);
    Ok(Prepared { config, warnings })
}

impl Prepared {
    pub(super) fn config(&self) -> &SessionConfig {
        &self.config
    }
}

/// Starts a session that was prepared.
pub(super) fn start(prepared: Prepared) -> Result<Session, StartupFailure> {
    let resumed = match &prepared.config.history.start {
        Start::Resume(id) => Some(id.clone()),
        Start::Fresh | Start::Continue => None,
    };
    let opened = session::open(prepared.config);
    let handle = opened.map_err(|reason| failure(&reason, resumed))?;
    let mut warnings = prepared.warnings;
    warnings.extend(handle.warnings);
    let ended = handle.ended.map(|exit| Exit {
        code: exit.code,
        stderr: exit.stderr,
    });
    Ok(Session {
        input: handle.input,
        output: handle.output,
        warnings,
        end: SessionEnd::new(handle.stop, ended.boxed()),
    })
}

fn failure(reason: &Refused, resumed: Option<SessionId>) -> StartupFailure {
    match reason {
        Refused::Transcript(error) if error.is_told_in_a_result() => {
            StartupFailure::resume(error.to_string(), resumed)
        }
        other => StartupFailure::error(other),
    }
}

fn provider(
    model: Model,
    environment: &Arc<Environment>,
    settings: &Settings,
    cwd: &Path,
) -> Result<Arc<dyn Provider>, StartupFailure> {
    match model {
        Model::Scripted(scenario) => Ok(Arc::new(Scripted::new(*scenario))),
        Model::FromEnvironment => {
            let settings = ProviderSettings {
                api_key_helper: settings.api_key_helper().map(str::to_owned),
                cwd: cwd.to_owned(),
                ..ProviderSettings::default()
            };
            let provider = Renewable::new(Arc::clone(environment), settings);
            Ok(Arc::new(provider.map_err(StartupFailure::error)?))
        }
    }
}

/// A session that only says why it is none.
fn refused(failure: &StartupFailure, results: FailureResults) -> Session {
    let (lines, output) = mpsc::channel(1);
    if let Some(line) = failure.result(results) {
        // The queue is empty, so there is room.
        let _ = lines.try_send(line);
    }
    let (input, unread) = mpsc::channel(UNREAD);
    let exit = Exit {
        code: 1,
        stderr: failure.stderr.lines().map(str::to_owned).collect(),
    };
    let mut end = SessionEnd::new(Stop::default(), std::future::ready(exit).boxed());
    end.unread = Some(Arc::new(unread));
    Session {
        input,
        output,
        warnings: Vec::new(),
        end,
    }
}
