//! What the keeper of a session is told.

use falconer_session::EngineInfo;
use falconer_store::{MessageId, RequestRecord, SessionRecord};
use tokio::sync::oneshot;

use crate::error::Error;
use crate::message::{Accepted, NewMessage, TakenBack};

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What the keeper of a session is told. One keeper obeys one order after the other.
#[derive(Debug)]
pub(crate) enum Order {
    Send(Box<NewMessage>, Reply<Accepted>),
    TakeBack(MessageId, Reply<TakenBack>),
    /// A request was answered in the store: tell the agent.
    Deliver(Box<RequestRecord>, Reply<()>),
    Interrupt(Reply<()>),
    Model(String, Reply<()>),
    Mode(String, Reply<()>),
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
