//! Starting a session: lock, task, handlers.

mod asking;
mod commands;
mod connecting;
mod driving;
mod ending;
mod gate;
mod handlers;
mod hearing;
mod journal;
mod known;
mod limiting;
mod live;
mod prompting;
mod recorder;
mod renewing;
mod retrying;
mod turns;

use std::path::Path;
use std::sync::Arc;

use falconer::{Client, Error as EngineError, Link, Messages, Options, Transport};
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, watch};

use crate::error::Error;
use crate::handle::SessionHandle;
use crate::pending::Asked;
use crate::spec::{OnMissing, SessionSpec};
use crate::stream::{EventStream, Outlet};
use crate::transcript::Transcript;

use gate::Gate;
pub(crate) use gate::Judged;
use handlers::{archiving, listen};
use live::{Live, Streamed};
use renewing::Renewal;

/// Commands that may wait for the session; a caller waits when there are more.
const COMMANDS: usize = 64;
/// Requests of the engine that may wait for the session; the engine waits when there are more.
const ASKS: usize = 64;

/// Starts sessions.
#[derive(Debug)]
pub struct Session;

impl Session {
    /// Starts a run in a task of its own.
    ///
    /// A session that is resumed is locked before anything is started; a new one as soon as the
    /// engine has named it, before `run.started`. What goes wrong after that (the engine cannot
    /// be started, the conversation has vanished, the session is in use) is told by
    /// `run.completed`, which always comes.
    ///
    /// # Errors
    /// [`Error::Lock`] if the session to resume is in use and stays so while it waits,
    /// [`Error::Transcript`] if the transcript cannot be written.
    pub async fn start(spec: SessionSpec) -> Result<(SessionHandle, EventStream), Error> {
        let lock = match &spec.resume {
            // A copy may be made of a session that runs.
            Some(resume) if !resume.fork => {
                Some(spec.locks.lock(&resume.session, spec.wait).await?)
            }
            _ => None,
        };
        let transcript = match &spec.transcript {
            Some(path) => Some(open(path)?),
            None => None,
        };
        let (commands, told) = mpsc::channel(COMMANDS);
        let (asks, asked) = mpsc::channel(ASKS);
        let (over_sender, over) = watch::channel(false);
        let (outlet, events) = Outlet::new(spec.backlog);
        let gate = Arc::new(Gate::new(&spec));
        let mut spec = spec;
        let is_asked_for = spec.options.includes_partial_messages();
        let pieces = match spec.limits.meter_output() && !is_asked_for {
            true => Streamed::Hidden,
            false => Streamed::Shown,
        };
        let renewal = renewal(&mut spec, &asks, &gate);
        spec.about.tool_schemas.extend(spec.options.tool_schemas());
        let is_cli = spec.transport.is_none() && spec.options.runs_cli();
        let connecting = connect(&mut spec, asks, &gate);
        let mut live = Live::new(spec, lock, transcript, outlet, gate, renewal, pieces);
        live.version_unseen = is_cli;
        // The task ends by itself: with the engine, on close, or when nobody is left to care.
        tokio::spawn(async move {
            live.run(connecting, told, asked).await;
            over_sender.send_replace(true);
        });
        Ok((SessionHandle { commands, over }, events))
    }
}

/// Options under which everything the engine asks comes to the session.
fn prepared(
    spec: &SessionSpec,
    options: Options,
    asks: mpsc::Sender<Asked>,
    gate: &Arc<Gate>,
) -> Options {
    let mut options = listen(options, asks.clone(), gate.clone());
    if let Some(usd) = spec.limits.usd {
        // What a turn costs is said when it is over; the engine knows earlier.
        options = options.max_budget_usd(usd);
    }
    if spec.limits.meter_output() {
        options = options.include_partial_messages();
    }
    match &spec.archive {
        Some(directory) => options.hook(archiving(directory.clone(), spec.redactor.clone(), asks)),
        None => options,
    }
}

type Connecting = BoxFuture<'static, Result<(Client, Messages), EngineError>>;

/// How the engine is started once more if the conversation to resume is gone.
fn renewal(
    spec: &mut SessionSpec,
    asks: &mpsc::Sender<Asked>,
    gate: &Arc<Gate>,
) -> Option<Renewal> {
    let is_possible = spec.resume.is_some() && spec.transport.is_none();
    let OnMissing::StartAnew(last) = std::mem::take(&mut spec.on_missing) else {
        return None;
    };
    if !is_possible {
        return None;
    }
    let options = prepared(spec, spec.options.clone(), asks.clone(), gate);
    let connect = Box::new(move || Box::pin(Client::connect(options)) as Connecting);
    Some(Renewal { connect, last })
}

fn connect(spec: &mut SessionSpec, asks: mpsc::Sender<Asked>, gate: &Arc<Gate>) -> Connecting {
    let mut options = std::mem::take(&mut spec.options);
    if let Some(resume) = &spec.resume {
        options = resume.apply(options);
    }
    let options = prepared(spec, options, asks, gate);
    match spec.transport.take() {
        Some(transport) => Box::pin(Client::connect_through(Boxed(transport), options)),
        None => Box::pin(Client::connect(options)),
    }
}

fn open(path: &Path) -> Result<Transcript, Error> {
    Transcript::open(path).map_err(|source| Error::Transcript {
        path: path.to_owned(),
        source,
    })
}

/// A transport of a kind only known at run time.
struct Boxed(Box<dyn Transport>);

impl Transport for Boxed {
    fn open(self: Box<Self>) -> BoxFuture<'static, Result<Link, EngineError>> {
        self.0.open()
    }
}
