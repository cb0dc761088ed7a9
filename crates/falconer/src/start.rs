//! From options to a connected client.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use falconer_protocol::UserInput;
use falconer_protocol::control::{HostRequest, InitializeRequest, InitializeResponse};

use crate::client::Client;
use crate::connection::{Connection, ConnectionLimits, DeskLimits, Parts};
use crate::engine_choice::InProcess;
use crate::error::Error;
use crate::handlers::Handlers;
use crate::hook::OnFailure;
use crate::isolation::{self, Home, IsolationError, IsolationInForce};
use crate::launch::{HostFeatures, LaunchPlan, LaunchWarning, Surroundings};
use crate::messages::Messages;
use crate::mirror::{
    MaterializeOptions, Materialized, Mirror, MirrorHandle, MirrorOptions, SessionKey, materialize,
};
use crate::options::{Billing, Options, RuntimeLimits, Settings};
use crate::sessions::{SessionId, Sessions, check_session_id};
use crate::transport::{Ending, Subprocess, Transport};

/// Starts the official CLI or the engine chosen, says hello and perhaps sends a first prompt.
pub(crate) async fn cli(
    mut options: Options,
    first: Option<&UserInput>,
) -> Result<(Client, Messages), Error> {
    let mut restored = restore(&mut options).await?;
    let host = options.host_features();
    let mut surroundings = surroundings(&options, &host).await?;
    let (mut plan, standing) = isolation::settle(&options, &host, &mut surroundings).await?;
    for warning in &plan.warnings {
        match warning {
            // News for who writes the handler, and not for who runs the program.
            LaunchWarning::HandlerShadowed { .. } => tracing::info!("{warning}"),
            // Known for certain, and for every run, when the engine names it.
            LaunchWarning::NewerThanTested { .. } | LaunchWarning::OlderThanTested { .. } => {
                tracing::debug!("{warning}");
            }
            _ => tracing::warn!("{warning}"),
        }
    }
    let mirror = mirror(&options.handlers, &plan);
    let (home, in_force) = match standing {
        Some(standing) => {
            // The settings of an isolated run count in its own home only.
            if let Some(session) = restored.take() {
                session.move_into(&standing.home.path().join(".claude"))?;
            }
            (Some(standing.home), Some(Arc::new(standing.in_force)))
        }
        None => (None, None),
    };
    let home = hide_settings(&mut plan, home).await?;
    let cost_before = cost_before(&options, &plan);
    let transport = transport(&options, &plan, home.map(Arc::new))?;
    let transport = options.wrapped(transport);
    let start = Start {
        initialize: plan.initialize,
        mirror,
        restored,
        billing: Some(plan.billing),
        isolation: in_force,
        cost_before,
    };
    open(transport, options, start, first).await
}

/// Writes settings that hold secrets to a file that only this user can read, and that goes with
/// the engine.
async fn hide_settings(plan: &mut LaunchPlan, home: Option<Home>) -> Result<Option<Home>, Error> {
    let Some(Settings::Inline(settings)) = plan.private_settings.take() else {
        return Ok(home);
    };
    let writing = isolation::blocking(move || {
        let home = match home {
            Some(home) => home,
            None => Home::create(&std::env::temp_dir())?,
        };
        home.put("flag-settings.json", settings.to_string().as_bytes())?;
        Ok(home)
    });
    let home = writing.await?;
    let mut flag = OsString::from("--settings=");
    flag.push(home.path().join("flag-settings.json"));
    plan.args.push(flag);
    Ok(Some(home))
}

/// Connects through any transport, says hello and perhaps sends a first prompt.
pub(crate) async fn through(
    transport: Box<dyn Transport>,
    options: Options,
    first: Option<&UserInput>,
) -> Result<(Client, Messages), Error> {
    let host = options.host_features();
    let initialize = options.initialize_request(&host);
    let start = Start {
        initialize,
        mirror: None,
        restored: None,
        billing: None,
        isolation: None,
        cost_before: 0.0,
    };
    open(transport, options, start, first).await
}

/// The preparations for a start.
struct Start {
    initialize: InitializeRequest,
    mirror: Option<Arc<MirrorHandle>>,
    restored: Option<Materialized>,
    billing: Option<Billing>,
    isolation: Option<Arc<IsolationInForce>>,
    cost_before: f64,
}

async fn open(
    transport: Box<dyn Transport>,
    options: Options,
    start: Start,
    first: Option<&UserInput>,
) -> Result<(Client, Messages), Error> {
    let fails_closed = needs_blocking_hooks(&options.handlers);
    let verbatim = options.launch.prompt.verbatim;
    let parts = Parts {
        link: transport.open().await?,
        handlers: options.handlers,
        mirror: start.mirror.clone(),
        restored: start.restored,
        limits: limits_of(&options.limits),
        initialize: start.initialize,
    };
    let (connection, backlog) = Connection::start(parts);
    let connection = Arc::new(connection);
    let messages = Messages::new(connection.clone(), backlog, start.mirror);
    let request = HostRequest::Initialize(Box::new(connection.initialize().clone()));
    let hello = connection.ask(&request).await?;
    // The prompt need not wait for the answer, unless the answer may forbid it.
    let (early, late) = if fails_closed {
        (None, first)
    } else {
        (first, None)
    };
    send(&connection, early, verbatim).await?;
    let hello = read_hello(hello.answer_within(options.limits.initialize).await?)?;
    if fails_closed && hello.hook_on_failure_supported != Some(true) {
        let version = hello.claude_code_version;
        return Err(Error::HooksFailOpen { version });
    }
    send(&connection, late, verbatim).await?;
    let mut client = Client::new(connection, hello, verbatim);
    client.billing = start.billing;
    client.isolation = start.isolation;
    client.cost_before = start.cost_before;
    Ok((client, messages))
}

async fn send(
    connection: &Connection,
    prompt: Option<&UserInput>,
    verbatim: bool,
) -> Result<(), Error> {
    match prompt {
        Some(prompt) => connection.send_prompt(prompt, verbatim).await,
        None => Ok(()),
    }
}

fn read_hello(value: serde_json::Value) -> Result<InitializeResponse, Error> {
    serde_json::from_value(value).map_err(|source| Error::UnexpectedAnswer {
        request: "initialize".to_owned(),
        source,
    })
}

/// A hook that must block on failure needs an engine that can do that.
fn needs_blocking_hooks(handlers: &Handlers) -> bool {
    handlers
        .hooks
        .iter()
        .any(|hook| hook.on_failure == OnFailure::Block)
}

/// Writes a session of the store where the CLI will find it, if one is to be resumed.
async fn restore(options: &mut Options) -> Result<Option<Materialized>, Error> {
    let Some(store) = &options.handlers.store else {
        return Ok(None);
    };
    let Some(id) = options.launch.session.start.resume.clone() else {
        return Ok(None);
    };
    let project = match &options.launch.environment.cwd {
        Some(cwd) => crate::sessions::project_key(cwd),
        None => crate::sessions::project_key(std::env::current_dir().map_err(|source| {
            Error::WorkingDirectory {
                path: PathBuf::from("."),
                source,
            }
        })?),
    };
    let id = SessionId::new(id);
    check_session_id(&id)?;
    let key = SessionKey::new(project, id);
    let written = match &options.launch.isolation {
        Some(isolation) => MaterializeOptions::new().below(isolation.homes()),
        None => MaterializeOptions::new(),
    };
    let restored = materialize(store.store.as_ref(), &key, &written).await?;
    if options.launch.isolation.is_none() {
        let directory = restored.config_dir();
        *options = options.clone().env("CLAUDE_CONFIG_DIR", directory);
    }
    Ok(Some(restored))
}

/// Starts copying the transcript into the store, if there is one.
fn mirror(handlers: &Handlers, plan: &LaunchPlan) -> Option<Arc<MirrorHandle>> {
    let store = handlers.store.as_ref()?;
    let options = MirrorOptions::new(config_dir(plan).join("projects")).flush(store.flush);
    Some(Arc::new(Mirror::start(store.store.clone(), options)))
}

/// Returns the directory in which the engine keeps its sessions.
fn config_dir(plan: &LaunchPlan) -> PathBuf {
    match (plan.variable("CLAUDE_CONFIG_DIR"), plan.variable("HOME")) {
        (Some(directory), _) => PathBuf::from(directory),
        (None, Some(home)) => PathBuf::from(home).join(".claude"),
        (None, None) => PathBuf::from(".claude"),
    }
}

/// Returns the cost of a resumed session before this run: its engine counts on from there.
fn cost_before(options: &Options, plan: &LaunchPlan) -> f64 {
    let resumed = options.launch.session.start.resume.clone();
    let cost = resumed.and_then(|id| {
        let sessions = Sessions::open(config_dir(plan));
        sessions.cost(&SessionId::new(id)).ok().flatten()
    });
    cost.unwrap_or(0.0)
}

/// The engine chosen, or the CLI as a child process.
/// What the launch depends on: an executable, or an engine in this process.
async fn surroundings(options: &Options, host: &HostFeatures) -> Result<Surroundings, Error> {
    match &options.engine {
        // A home and an environment of its own cannot be had inside this process.
        Some(_) if options.launch.isolation.is_some() => {
            Err(Error::Isolation(Box::new(IsolationError::InProcess)))
        }
        Some(engine) => Surroundings::of_this_process(&options.launch, engine.as_ref()).await,
        None => Surroundings::of_this_machine(&options.launch, host).await,
    }
}

fn transport(
    options: &Options,
    plan: &LaunchPlan,
    home: Option<Arc<Home>>,
) -> Result<Box<dyn Transport>, Error> {
    match &options.engine {
        Some(engine) => Ok(Box::new(InProcess::new(engine.clone(), options, plan)?)),
        None => {
            let mut process = subprocess(options, plan);
            process.home = home;
            Ok(Box::new(process))
        }
    }
}

fn subprocess(options: &Options, plan: &LaunchPlan) -> Subprocess {
    let mut subprocess = Subprocess::new(&plan.program);
    subprocess.args.clone_from(&plan.args);
    subprocess.env.clone_from(&plan.env);
    subprocess.cwd.clone_from(&plan.cwd);
    subprocess.line_limit = options.limits.line_bytes;
    subprocess.stderr_lines = options.limits.stderr_lines;
    subprocess.on_stderr.clone_from(&options.handlers.stderr);
    subprocess.drop_grace = options.limits.close.terminated;
    subprocess
}

fn limits_of(limits: &RuntimeLimits) -> ConnectionLimits {
    ConnectionLimits {
        backlog: limits.backlog,
        desk: DeskLimits {
            permission: limits.permission,
            hook: limits.hook,
            stop_blocks: limits.stop_blocks,
        },
        request: limits.request,
        ending: Ending::AfterInput {
            input: limits.close.input_closed,
            term: limits.close.terminated,
        },
    }
}
