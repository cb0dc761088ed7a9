//! What the keeper of a session is told.

use falconer_session::{Answer, EngineInfo, EventStream, SessionHandle, SessionSpec};
use falconer_store::{Decided, MessageId, RequestRecord, SessionPatch, SessionRecord};
use tokio::sync::oneshot;

use crate::error::Error;
use crate::message::{Accepted, NewMessage, TakenBack};

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// How somebody starts a session that is to be kept.
pub(crate) struct Adoption {
    pub(crate) spec: SessionSpec,
    pub(crate) mode: String,
    pub(crate) model: Option<String>,
}

impl std::fmt::Debug for Adoption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Adoption")
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// What the keeper of a session is told. One keeper obeys one order after the other.
#[derive(Debug)]
pub(crate) enum Order {
    Send(Box<NewMessage>, Reply<Accepted>),
    /// Start the session like this, and keep it.
    Adopt(Box<Adoption>, Reply<(SessionHandle, EventStream)>),
    /// An answer in the words of the live session.
    Answer(Box<Answer>, Reply<Decided>),
    TakeBack(MessageId, Reply<TakenBack>),
    /// A request was answered in the store: tell the agent.
    Deliver(Box<RequestRecord>, Reply<()>),
    Interrupt(Reply<()>),
    /// Change mode or model, and whatever else the patch says.
    Change(Box<SessionPatch>, Reply<SessionRecord>),
    StopTask(String, Reply<()>),
    Info(Reply<EngineInfo>),
    Resume(Reply<SessionRecord>),
    Close(Reply<SessionRecord>),
    Delete(Reply<()>),
    /// Another process may have left an answer.
    Look,
    /// Somebody else may run the session now.
    CheckLease,
    /// The hub shuts down.
    ShutDown(oneshot::Sender<()>),
}
