//! Starting a session: lock, task, handlers.

mod gate;
mod live;
mod recorder;
mod turns;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer::protocol::hook::{HookEvent, HookOutput};
use falconer::{
    Client, Decision, ElicitationAnswer, ElicitationRequest, Error as EngineError, Hook, HookCall,
    Link, Messages, OnFailure, Options, PermissionRequest, Transport,
};
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};

use crate::error::Error;
use crate::handle::SessionHandle;
use crate::pending::{Ask, Asked};
use crate::spec::SessionSpec;
use crate::stream::{EventStream, stream};
use crate::transcript::{Transcript, archive};

use gate::Gate;
use live::Live;

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
    /// [`Error::Lock`] if the session to resume is in use, [`Error::Transcript`] if the transcript
    /// cannot be written.
    pub async fn start(spec: SessionSpec) -> Result<(SessionHandle, EventStream), Error> {
        let lock = match &spec.resume {
            Some(resume) => Some(spec.locks.try_lock(&resume.session)?),
            None => None,
        };
        let transcript = match &spec.transcript {
            Some(path) => Some(open(path)?),
            None => None,
        };
        let (commands, told) = mpsc::channel(COMMANDS);
        let (asks, asked) = mpsc::channel(ASKS);
        let (over_sender, over) = watch::channel(false);
        let (outlet, events) = stream(spec.backlog);
        let gate = Arc::new(Gate::new(spec.policy.clone()));
        let mut spec = spec;
        let connecting = connect(&mut spec, asks, &gate);
        let live = Live::new(spec, lock, transcript, outlet, gate);
        // The task ends by itself: with the engine, on close, or when nobody is left to care.
        tokio::spawn(async move {
            live.run(connecting, told, asked).await;
            over_sender.send_replace(true);
        });
        Ok((SessionHandle { commands, over }, events))
    }
}

type Connecting = BoxFuture<'static, Result<(Client, Messages), EngineError>>;

fn connect(spec: &mut SessionSpec, asks: mpsc::Sender<Asked>, gate: &Arc<Gate>) -> Connecting {
    let mut options = std::mem::take(&mut spec.options);
    if let Some(resume) = &spec.resume {
        options = resume.apply(options);
    }
    let mut options = listen(options, asks, gate.clone());
    if let Some(directory) = spec.archive.take() {
        options = options.hook(archiving(directory));
    }
    match spec.transport.take() {
        Some(transport) => Box::pin(Client::connect_through(Boxed(transport), options)),
        None => Box::pin(Client::connect(options)),
    }
}

/// Everything the engine asks comes to the session.
fn listen(options: Options, asks: mpsc::Sender<Asked>, gate: Arc<Gate>) -> Options {
    let forms = asks.clone();
    options
        // The session has a limit of its own, which it tells about.
        .without_permission_timeout()
        .hook(Hook::new(HookEvent::PreToolUse, move |call| {
            let gate = gate.clone();
            async move { Ok(gate.before_tool(&call.input)) }
        }))
        .on_permission(move |request| ask_tool(asks.clone(), request))
        .on_elicitation(move |request| ask_form(forms.clone(), request))
}

/// Keeps the engine's transcript before it is compacted. That goes on even if it fails: a
/// conversation that does not fit any more would be stuck.
fn archiving(directory: PathBuf) -> Hook {
    let archived = move |call: HookCall| {
        let directory = directory.clone();
        async move {
            let input = call.input_json();
            let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
            let (path, session) = (PathBuf::from(text("transcript_path")), text("session_id"));
            let copying = tokio::task::spawn_blocking(move || archive(&path, &directory, &session));
            match copying.await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::warn!(%error, "failed to archive a transcript"),
                Err(error) => tracing::warn!(%error, "archiving a transcript was cut off"),
            }
            Ok(HookOutput::default())
        }
    };
    Hook::new(HookEvent::PreCompact, archived).on_failure(OnFailure::Continue)
}

fn open(path: &Path) -> Result<Transcript, Error> {
    Transcript::open(path).map_err(|source| Error::Transcript {
        path: path.to_owned(),
        source,
    })
}

async fn ask_tool(asks: mpsc::Sender<Asked>, request: PermissionRequest) -> Decision {
    let (reply, answer) = oneshot::channel();
    let asked = Asked {
        ask: Ask::Tool(Box::new(request.ask), reply),
        withdrawn: request.withdrawn,
    };
    let over = || Decision::deny("the session is over, so this was denied");
    match asks.send(asked).await {
        Ok(()) => answer.await.unwrap_or_else(|_| over()),
        Err(_) => over(),
    }
}

async fn ask_form(asks: mpsc::Sender<Asked>, request: ElicitationRequest) -> ElicitationAnswer {
    let (reply, answer) = oneshot::channel();
    let asked = Asked {
        ask: Ask::Form(Box::new(request.ask), reply),
        withdrawn: request.withdrawn,
    };
    match asks.send(asked).await {
        Ok(()) => answer.await.unwrap_or(ElicitationAnswer::Cancel),
        Err(_) => ElicitationAnswer::Cancel,
    }
}

/// A transport of a kind only known at run time.
struct Boxed(Box<dyn Transport>);

impl Transport for Boxed {
    fn open(self: Box<Self>) -> BoxFuture<'static, Result<Link, EngineError>> {
        self.0.open()
    }
}
