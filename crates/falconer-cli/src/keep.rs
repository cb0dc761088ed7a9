//! Sessions of the terminal in the store: servers and other commands that use the same one see
//! them, and may answer what they ask.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use falconer_hub::{Hub, HubConfig, NewSession};
use falconer_session::{
    Answer, EventStream, Lifetime, Resume, Session, SessionHandle, SessionSpec, Verdict,
};
use falconer_store::{Decided, RequestRecord, SessionId, SqliteStore, Store};
use futures_util::future::BoxFuture;

use crate::ask::Open;
use crate::exit::{Exit, Fault, say};
use crate::here;
use crate::places;
use crate::run::start::Prepared;
use crate::serve::Chooser;
use crate::sessions;

/// The length of an id that is not cut off.
const FULL_ID: usize = 36;

/// Starting a session that nobody else has takes less.
const A_WHILE: Duration = Duration::from_millis(500);

/// Who answers, for the record.
const BY: &str = "terminal";

/// Where a session is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// In the store of this user, if it can be had.
    Usual,
    /// In this one, or the session does not start.
    In(PathBuf),
    /// Nowhere.
    Nowhere,
}

/// An agent at work, and the store it is kept in.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) session: SessionHandle,
    kept: Option<Kept>,
}

#[derive(Debug)]
struct Kept {
    hub: Hub,
    store: Arc<dyn Store>,
}

/// Starts what was prepared.
pub(crate) async fn start(
    mut prepared: Prepared,
    lifetime: Lifetime,
) -> Result<(Agent, EventStream), Fault> {
    if let Some(resume) = &prepared.resume {
        prepared.resume = Some(whole(resume, &prepared.keeping).await?);
    }
    let kept = match &prepared.keeping {
        Keeping::Nowhere => None,
        Keeping::In(file) => Some(Kept::open(file.clone(), &prepared).await?),
        Keeping::Usual => usual(&prepared).await,
    };
    let wait = prepared.wait;
    let Some(kept) = kept else {
        let spec = lasting(prepared.into_spec()?, lifetime);
        return saying_so(wait, Box::pin(Agent::start(spec))).await;
    };
    let new = kept.new_session(&prepared);
    let resume = match &prepared.resume {
        Some(resume) => Some(kept.native(resume).await?),
        None => None,
    };
    let mut spec = lasting(prepared.into_spec()?, lifetime);
    if let Some(resume) = resume {
        spec = spec.resume(resume);
    }
    match saying_so(wait, Box::pin(kept.hub.adopt(new, spec))).await {
        Ok(adopted) => {
            let agent = Agent {
                session: adopted.session,
                kept: Some(kept),
            };
            Ok((agent, adopted.events))
        }
        Err(error) => {
            kept.close().await;
            Err(error.into())
        }
    }
}

/// Says so if it takes a while, because another run works on the session.
async fn saying_so<T>(wait: Option<Duration>, mut starting: BoxFuture<'_, T>) -> T {
    if wait.is_some() {
        tokio::select! {
            started = &mut starting => return started,
            () = tokio::time::sleep(A_WHILE) => {}
        }
        say(
            "note:",
            "waiting for another run of this session to end; Ctrl-C gives up",
        );
    }
    starting.await
}

/// A session may be named by the beginning of its id, as the other commands print and take it.
async fn whole(resume: &Resume, keeping: &Keeping) -> Result<Resume, Fault> {
    if resume.id().len() >= FULL_ID {
        return Ok(resume.clone());
    }
    let store = match keeping {
        Keeping::In(file) if file.exists() => Some(file.as_path()),
        _ => None,
    };
    let id = sessions::conversation_of(resume.id(), store).await?;
    let whole = Resume::session(id);
    Ok(if resume.is_fork() {
        whole.fork()
    } else {
        whole
    })
}

fn lasting(spec: SessionSpec, lifetime: Lifetime) -> SessionSpec {
    match lifetime {
        Lifetime::UntilIdle => spec.until_idle(),
        _ => spec,
    }
}

/// A session runs without a store, too, if nobody asked for one by name.
async fn usual(prepared: &Prepared) -> Option<Kept> {
    let opened = async { Kept::open(places::store_file()?, prepared).await };
    match opened.await {
        Ok(kept) => Some(kept),
        Err(fault) => {
            let why = fault.text;
            say("note:", format!("servers will not see this session: {why}"));
            None
        }
    }
}

impl Kept {
    async fn open(file: PathBuf, prepared: &Prepared) -> Result<Self, Fault> {
        let store: Arc<dyn Store> = Arc::new(open_store(file).await?);
        // Nothing is started by the hub itself.
        let config = HubConfig::new(
            Chooser::new(None, prepared.bypass),
            places::locks_directory()?,
        )
        .program("falconer in a terminal")
        .redactor(here::redactor().clone());
        match Hub::open(store.clone(), config.bypass(prepared.bypass)).await {
            Ok(hub) => Ok(Self { hub, store }),
            Err(error) => {
                let _ = store.close().await;
                Err(error.into())
            }
        }
    }

    fn new_session(&self, prepared: &Prepared) -> NewSession {
        let mut new = NewSession::new(prepared.engine(), &prepared.cwd);
        new.model.clone_from(&prepared.model);
        new.mode = prepared.mode.as_str().to_owned();
        new.config = prepared.kept_config();
        new
    }

    /// A session may be named by its id in the store.
    async fn native(&self, resume: &Resume) -> Result<Resume, Fault> {
        let record = self.store.session(&SessionId::from(resume.id())).await;
        let native = record.ok().and_then(|record| record.native_session);
        Ok(match native {
            Some(native) if resume.is_fork() => Resume::session(native).fork(),
            Some(native) => Resume::session(native),
            None => resume.clone(),
        })
    }

    async fn close(self) {
        self.hub.shut_down().await;
        // What it was to keep is kept already.
        let _ = self.store.close().await;
    }
}

/// Opens a store, with what to do if it cannot be.
pub(crate) async fn open_store(file: PathBuf) -> Result<SqliteStore, Fault> {
    refuse_address(&file)?;
    if places::store_file().is_ok_and(|usual| usual == file) {
        places::private_state()?;
    }
    SqliteStore::open(&file).await.map_err(|error| {
        let hint = "check that the file is yours, the disk has room, and falconer is up to date";
        Fault::setup(format!("failed to open the store: {error}"), hint)
    })
}

/// A database somewhere else is not a file of that name. Only the kind is shown: the rest may hold
/// a password.
fn refuse_address(file: &Path) -> Result<(), Fault> {
    let text = file.to_string_lossy();
    // `Path` keeps both slashes; a scheme has at least two letters.
    let Some((scheme, _)) = text.split_once("://") else {
        return Ok(());
    };
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    if scheme.len() < 2 || !scheme.bytes().all(is_scheme) {
        return Ok(());
    }
    let text = match scheme.to_ascii_lowercase().as_str() {
        "postgres" | "postgresql" => "PostgreSQL is not supported as a store yet".to_owned(),
        other => format!("cannot use an address of the kind `{other}://` as a store"),
    };
    let hint = "give a path: `--store FILE` keeps everything in one SQLite file on a local disk";
    Err(Fault::usage(text, hint))
}

impl Agent {
    /// An agent that is kept nowhere.
    pub(crate) async fn start(spec: SessionSpec) -> Result<(Self, EventStream), Fault> {
        let (session, events) = Session::start(spec).await?;
        let kept = None;
        Ok((Self { session, kept }, events))
    }

    /// Answers; says so if the answer did not count.
    pub(crate) async fn answer(
        &self,
        open: &Open,
        verdict: Verdict,
    ) -> Result<Option<String>, Fault> {
        let answer = Answer::new(&open.id, &open.digest, BY, verdict).shown(open.shown());
        let answered = match &self.kept {
            Some(kept) => kept.hub.answer_adopted(answer).await,
            None => return remark(self.session.answer(answer).await),
        };
        match answered {
            Ok(decided) => Ok(lost(&decided)),
            Err(falconer_hub::Error::Session(error)) => remark(Err(error)),
            Err(falconer_hub::Error::NotRunning(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until nothing of it is left.
    pub(crate) async fn end(self) {
        match self.kept {
            Some(kept) => kept.close().await,
            None => self.session.ended().await,
        }
    }
}

/// Too late is no fault: it was withdrawn, or the run is over. Its end is told by an event.
fn remark(answered: Result<(), falconer_session::Error>) -> Result<Option<String>, Fault> {
    match answered {
        Ok(()) | Err(falconer_session::Error::Over) => Ok(None),
        Err(falconer_session::Error::Answer(error)) => Ok(Some(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

fn lost(decided: &Decided) -> Option<String> {
    let by = |request: &RequestRecord| match &request.decision {
        Some(decision) => format!("already answered by {}", decision.by),
        None => "already answered".to_owned(),
    };
    match decided {
        Decided::Won(_) => None,
        Decided::Lost(request) => Some(by(request)),
        _ => Some("no longer asked".to_owned()),
    }
}

impl From<falconer_hub::Error> for Fault {
    fn from(error: falconer_hub::Error) -> Self {
        use falconer_hub::Error;
        match error {
            Error::Session(error) => error.into(),
            Error::Elsewhere { .. } => Self::new(
                Exit::Session,
                error,
                "send it a message there, wait for it with `--wait`, or go on with a copy: add `--fork`",
            ),
            Error::Invalid(_) => Self::usage(error, "see `--help`"),
            Error::BypassRefused(_) => Self::setup(
                error,
                "use mode default and answer what is asked, or acceptEdits with `--allow` rules, or, \
                 as another user than root, add `--allow-dangerously-skip-permissions`",
            ),
            _ => Self::setup(error, "see `falconer doctor`"),
        }
    }
}
