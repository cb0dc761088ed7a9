//! Messages on their way to the agent: kept first, then given.

use falconer_session::Cancelled;
use falconer_store::{
    Attachment, Delivery, Error as StoreError, Fence, Guard, InputQuery, InputRecord, InputState,
    Inserted, MessageId, NewInput, SessionPatch, SessionState,
};

use super::Keeper;
use crate::error::Error;
use crate::message::{Accepted, NewMessage, TakenBack};
use crate::prompt;

/// The longest title made from a message.
const TITLE: usize = 80;

impl Keeper {
    pub(super) async fn send(&mut self, message: NewMessage) -> Result<Accepted, Error> {
        match self.try_send(message.clone()).await {
            // It was taken over meanwhile, and the message is not kept: ask for the session anew.
            Err(Error::Store(StoreError::StaleFence { .. })) if self.run.is_some() => {
                self.tell_starter_of_loss();
                self.abandon_run().await;
                self.try_send(message).await
            }
            sent => sent,
        }
    }

    /// Keeps a message and hands it over. Only who has the session keeps it: what is refused
    /// because another process runs the session can be sent there, with the same id.
    async fn try_send(&mut self, message: NewMessage) -> Result<Accepted, Error> {
        let record = self.shared.store.session(&self.session).await?;
        if record.state == SessionState::Closed {
            return Err(Error::Closed(self.session.clone()));
        }
        let new = self.new_input(message).await?;
        let claimed = match &self.run {
            Some(_) => None,
            None => Some(self.claim_to_run().await?),
        };
        let input = match self.insert(new, claimed).await {
            Ok(Inserted::New(input)) => input,
            other => {
                if let Some(fence) = claimed {
                    self.attempt("let a session go", async {
                        self.shared.store.release(&self.session, fence).await
                    })
                    .await;
                }
                let message = other?.into_record();
                let duplicate = true;
                return Ok(Accepted { message, duplicate });
            }
        };
        if record.title.is_none() {
            self.name_after(&input.text).await;
        }
        let handed = match claimed {
            None => self.give(&input).await,
            // It is among those that wait, after those that waited before.
            Some(fence) => self.start_claimed(fence).await,
        };
        match handed {
            Ok(()) => Ok(Accepted {
                message: input,
                duplicate: false,
            }),
            // The session was taken over after the message was kept: it waits there.
            Err(Error::Store(StoreError::StaleFence { .. })) => {
                self.check_lease().await;
                Ok(Accepted {
                    message: self.shared.store.input(&input.id).await?,
                    duplicate: false,
                })
            }
            Err(error) => {
                self.drop_input(&input.id).await;
                Err(error)
            }
        }
    }

    async fn insert(
        &self,
        mut new: NewInput,
        claimed: Option<Fence>,
    ) -> Result<Inserted<InputRecord>, Error> {
        let fence = claimed.or(self.run.as_ref().map(|run| run.fence));
        let Some(fence) = fence else {
            return Err(Error::NotRunning(self.session.clone()));
        };
        new.guard = Guard::Holder(fence);
        Ok(self.shared.store.insert_input(new).await?)
    }

    async fn new_input(&self, message: NewMessage) -> Result<NewInput, Error> {
        let store = &self.shared.store;
        let mut attachments = Vec::new();
        for id in message.attachments {
            let blob = store.blob(&id).await?;
            let name = blob.name.unwrap_or_else(|| "attachment".to_owned());
            attachments.push(Attachment::new(id, name, blob.media_type, blob.size));
        }
        // Kept first and given later, maybe by another process: so what is given is what is kept.
        let text = self.shared.config.redactor.clean(message.text);
        let mut new = NewInput::new(self.session.clone(), message.client_msg_id, text);
        new.attachments = attachments;
        new.delivery = message.delivery;
        new.by = Some(message.by);
        Ok(new)
    }

    /// A session without a name is called by how it began.
    pub(super) async fn name_after(&self, text: &str) {
        let mut lines = text.lines().map(str::trim);
        let Some(line) = lines.find(|line| !line.is_empty()) else {
            return;
        };
        let mut title: String = line.chars().take(TITLE).collect();
        if title.len() < line.len() {
            title.push('…');
        }
        let patch = SessionPatch::default().title(Some(title));
        self.attempt("name a session", async {
            let named = self.shared.store.update_session(&self.session, patch).await;
            named.map(drop)
        })
        .await;
    }

    /// A message that could not be handed over does not wait.
    async fn drop_input(&self, id: &MessageId) {
        for from in [InputState::Queued, InputState::Sent] {
            self.attempt("drop a message", async {
                let (store, to) = (&self.shared.store, InputState::Cancelled);
                let moved = store.move_input(id, from, to, Guard::Anyone).await;
                moved.map(drop)
            })
            .await;
        }
    }

    async fn give(&mut self, input: &InputRecord) -> Result<(), Error> {
        let message = prompt::message(&*self.shared.store, input).await?;
        let Some(run) = &mut self.run else {
            return Err(Error::NotRunning(self.session.clone()));
        };
        run.resting = None;
        if input.delivery != Delivery::Queue || !run.tracker.is_at_work() {
            run.tracker.given(input.id.as_str());
            // Written down first: what the agent may have been given is never given again.
            let (from, to) = (InputState::Queued, InputState::Sent);
            let guard = Guard::Holder(run.fence);
            let store = &self.shared.store;
            if !store.move_input(&input.id, from, to, guard).await?.is_yes() {
                return Ok(());
            }
        }
        run.handle.post(message).await?;
        Ok(())
    }

    /// Gives the agent what waits for it, oldest first. What was given already is not given
    /// again: the live session knows it by its id.
    pub(super) async fn deliver_queued(&mut self) -> Result<(), Error> {
        let queued = InputQuery::states([InputState::Queued]);
        for input in self.shared.store.inputs(&self.session, queued).await? {
            self.give(&input).await?;
        }
        Ok(())
    }

    pub(super) async fn take_back(&mut self, id: &MessageId) -> Result<TakenBack, Error> {
        let input = self.shared.store.input(id).await?;
        if input.session != self.session {
            let id = id.to_string();
            let what = falconer_store::Entity::Input;
            return Err(falconer_store::Error::NotFound { what, id }.into());
        }
        match &self.run {
            // The log says when it is taken back.
            Some(run) => {
                let message = falconer_session::MessageId::from(id.as_str());
                Ok(match run.handle.cancel(&message).await? {
                    Cancelled::Yes => TakenBack::Yes,
                    _ => TakenBack::TooLate,
                })
            }
            None => {
                // Whoever has the session may be giving it to the agent right now.
                let fence = self.claim().await?;
                let (from, to) = (InputState::Queued, InputState::Cancelled);
                let store = &self.shared.store;
                let moved = store.move_input(id, from, to, Guard::Holder(fence)).await;
                store.release(&self.session, fence).await?;
                Ok(if moved?.is_yes() {
                    TakenBack::Yes
                } else {
                    TakenBack::TooLate
                })
            }
        }
    }
}
