//! Starting a session: lock, task.

mod bounds;
mod connecting;
mod course;
mod driving;
mod ending;
mod gate;
mod hearing;
mod identity;
mod journal;
mod known;
mod live;
mod prompts;
mod recorder;
mod renewing;
mod requests;
mod retrying;
mod turns;

use std::path::Path;

use tokio::sync::{mpsc, watch};

use crate::error::Error;
use crate::handle::SessionHandle;
use crate::spec::SessionSpec;
use crate::stream::{EventStream, Outlet};
use crate::transcript::Transcript;

use live::{Live, Told};

/// Commands that may wait for the session; a caller waits when there are more.
const COMMANDS: usize = 64;

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
        let (over_sender, over) = watch::channel(false);
        let (outlet, events) = Outlet::new(spec.backlog);
        let (live, engine, start) = Live::new(spec, lock, transcript, outlet);
        let told = Told {
            commands: told,
            has_handles: true,
        };
        // The task ends by itself: with the engine, on close, or when nobody is left to care.
        tokio::spawn(async move {
            live.run(engine, start, told).await;
            over_sender.send_replace(true);
        });
        Ok((SessionHandle { commands, over }, events))
    }
}

fn open(path: &Path) -> Result<Transcript, Error> {
    Transcript::open(path).map_err(|source| Error::Transcript {
        path: path.to_owned(),
        source,
    })
}
