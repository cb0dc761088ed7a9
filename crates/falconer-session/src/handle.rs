//! Telling a live session what to do.

use falconer_event::Delivery;
use falconer_protocol::permission::PermissionMode;
use tokio::sync::{mpsc, oneshot, watch};

use crate::answer::Answer;
use crate::error::Error;
use crate::info::EngineInfo;
use crate::message::{Cancelled, Message, MessageId};

/// A handle on a live session; cheap to clone.
///
/// Commands go through one bounded queue and are obeyed in order. When the last handle is gone
/// a session that lives until it is closed is closed.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) over: watch::Receiver<bool>,
}

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What a session can be told.
#[derive(Debug)]
pub(crate) enum Command {
    Send(Box<Message>, Reply<MessageId>),
    Cancel(MessageId, Reply<Cancelled>),
    Interrupt(Reply<()>),
    Answer(Box<Answer>, Reply<()>),
    Model(String, Reply<()>),
    Mode(PermissionMode, Reply<()>),
    StopTask(String, Reply<()>),
    Info(Reply<EngineInfo>),
    Close,
}

impl SessionHandle {
    /// Sends a message; it waits for its turn.
    ///
    /// # Errors
    /// [`Error::QueueFull`], [`Error::Over`], [`Error::WindingDown`].
    pub async fn send(&self, message: impl Into<Message>) -> Result<MessageId, Error> {
        self.deliver(message, Delivery::Queue).await
    }

    /// Pushes a message into the turn under way.
    ///
    /// # Errors
    /// As [`SessionHandle::send`].
    pub async fn steer(&self, message: impl Into<Message>) -> Result<MessageId, Error> {
        self.deliver(message, Delivery::Steer).await
    }

    /// Sends a message as the caller chooses.
    ///
    /// # Errors
    /// As [`SessionHandle::post`].
    pub async fn deliver(
        &self,
        message: impl Into<Message>,
        delivery: Delivery,
    ) -> Result<MessageId, Error> {
        self.post(message.into().delivery(delivery)).await
    }

    /// Sends a message with what the record is to say about it.
    ///
    /// A message whose id was accepted before in this run is not sent again.
    ///
    /// # Errors
    /// As [`SessionHandle::send`]; [`Error::MessageCancelled`] if the message with this id was
    /// taken back.
    pub async fn post(&self, message: Message) -> Result<MessageId, Error> {
        let message = Box::new(message);
        self.ask(|reply| Command::Send(message, reply)).await
    }

    /// Takes back a message that nobody has read yet.
    ///
    /// # Errors
    /// [`Error::Over`], or what the engine said.
    pub async fn cancel(&self, message: &MessageId) -> Result<Cancelled, Error> {
        self.ask(|reply| Command::Cancel(message.clone(), reply))
            .await
    }

    /// Interrupts the turn under way. What is queued runs next.
    ///
    /// # Errors
    /// [`Error::Over`], or what the engine said.
    pub async fn interrupt(&self) -> Result<(), Error> {
        self.ask(Command::Interrupt).await
    }

    /// Answers a permission or a question. Of several answers the first one counts.
    ///
    /// # Errors
    /// [`Error::Answer`] if this one does not count.
    pub async fn answer(&self, answer: Answer) -> Result<(), Error> {
        self.ask(|reply| Command::Answer(Box::new(answer), reply))
            .await
    }

    /// Changes the model from the next turn on.
    ///
    /// # Errors
    /// [`Error::Over`], or what the engine said.
    pub async fn set_model(&self, model: impl Into<String>) -> Result<(), Error> {
        let model = model.into();
        self.ask(|reply| Command::Model(model, reply)).await
    }

    /// Changes the permission mode.
    ///
    /// # Errors
    /// [`Error::Over`], or what the engine said.
    pub async fn set_mode(&self, mode: PermissionMode) -> Result<(), Error> {
        self.ask(|reply| Command::Mode(mode, reply)).await
    }

    /// Stops one task: a shell or a sub-agent in the background.
    ///
    /// # Errors
    /// [`Error::Over`], or what the engine said.
    pub async fn stop_task(&self, task: impl Into<String>) -> Result<(), Error> {
        let task = task.into();
        self.ask(|reply| Command::StopTask(task, reply)).await
    }

    /// The commands and models of the engine, as it named them when it started.
    ///
    /// # Errors
    /// [`Error::Over`].
    pub async fn info(&self) -> Result<EngineInfo, Error> {
        self.ask(Command::Info).await
    }

    /// Ends the run and waits until nothing of it is left: no process, no lock.
    pub async fn close(&self) {
        // A session that takes no commands any more is ending already.
        let _ = self.commands.send(Command::Close).await;
        self.ended().await;
    }

    /// Waits until the run is over and nothing of it is left.
    pub async fn ended(&self) {
        let mut over = self.over.clone();
        // An error means that the session is gone, which is what was waited for.
        let _ = over.wait_for(|over| *over).await;
    }

    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let sent = self.commands.send(command(reply)).await;
        sent.map_err(|_| Error::Over)?;
        answer.await.unwrap_or(Err(Error::Over))
    }
}
