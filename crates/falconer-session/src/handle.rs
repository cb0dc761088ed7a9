//! Telling a live session what to do.

use falconer::{PermissionMode, Prompt};
use tokio::sync::{mpsc, oneshot, watch};

use crate::answer::Answer;
use crate::error::Error;

/// A handle on a live session; cheap to clone.
///
/// Commands go through one bounded queue and are obeyed in order. When the last handle is gone
/// a session that lives until it is closed is closed.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) over: watch::Receiver<bool>,
}

/// Names a message that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MessageId(pub(crate) String);

impl MessageId {
    /// The id as text; `turn.started` and `turn.completed` name it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What happens to a message while the agent is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Delivery {
    /// It waits until the turns before it are over.
    #[default]
    Queue,
    /// The agent reads it along the way.
    Push,
    /// The turn under way is ended for it.
    Interrupt,
}

/// What became of the wish to take a message back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cancelled {
    /// The agent will not see it.
    Yes,
    /// It was too late, or there is no such message.
    TooLate,
}

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// What a session can be told.
#[derive(Debug)]
pub(crate) enum Command {
    Send(Box<Prompt>, Delivery, Reply<MessageId>),
    Cancel(MessageId, Reply<Cancelled>),
    Interrupt(Reply<()>),
    Answer(Box<Answer>, Reply<()>),
    Model(String, Reply<()>),
    Mode(PermissionMode, Reply<()>),
    Close,
}

impl SessionHandle {
    /// Sends a message; it waits for its turn.
    ///
    /// # Errors
    /// [`Error::QueueFull`], [`Error::Over`], [`Error::WindingDown`].
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<MessageId, Error> {
        self.deliver(prompt, Delivery::Queue).await
    }

    /// Pushes a message into the turn under way.
    ///
    /// # Errors
    /// As [`SessionHandle::send`].
    pub async fn steer(&self, prompt: impl Into<Prompt>) -> Result<MessageId, Error> {
        self.deliver(prompt, Delivery::Push).await
    }

    /// Sends a message as the caller chooses.
    ///
    /// # Errors
    /// As [`SessionHandle::send`].
    pub async fn deliver(
        &self,
        prompt: impl Into<Prompt>,
        delivery: Delivery,
    ) -> Result<MessageId, Error> {
        let prompt = Box::new(prompt.into());
        self.ask(|reply| Command::Send(prompt, delivery, reply))
            .await
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
