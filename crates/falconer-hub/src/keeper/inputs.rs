//! Messages on their way to the agent: kept first, then given.

use falconer_session::Cancelled;
use falconer_store::{
    Attachment, Delivery, Guard, InputQuery, InputRecord, InputState, Inserted, MessageId,
    NewInput, SessionPatch, SessionState,
};

use super::Keeper;
use crate::error::Error;
use crate::message::{Accepted, NewMessage, TakenBack};
use crate::prompt;

/// The longest title made from a message.
const TITLE: usize = 80;

impl Keeper {
    pub(super) async fn send(&mut self, message: NewMessage) -> Result<Accepted, Error> {
        let record = self.shared.store.session(&self.session).await?;
        if record.state == SessionState::Closed {
            return Err(Error::Closed(self.session.clone()));
        }
        let new = self.new_input(message).await?;
        let input = match self.shared.store.insert_input(new).await? {
            Inserted::New(input) => input,
            Inserted::Existing(message) => {
                return Ok(Accepted {
                    message,
                    duplicate: true,
                });
            }
        };
        if record.title.is_none() {
            self.name_after(&input.text).await;
        }
        match self.hand_over(&input).await {
            Ok(()) => Ok(Accepted {
                message: input,
                duplicate: false,
            }),
            Err(error) => {
                self.drop_input(&input.id).await;
                Err(error)
            }
        }
    }

    async fn hand_over(&mut self, input: &InputRecord) -> Result<(), Error> {
        match self.run.is_some() {
            true => self.give(input).await,
            // It is among those that wait, after those that waited before.
            false => self.ensure_run().await,
        }
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
                let (from, to) = (InputState::Queued, InputState::Cancelled);
                let store = &self.shared.store;
                let moved = store.move_input(id, from, to, Guard::Anyone).await?;
                Ok(match moved.is_yes() {
                    true => TakenBack::Yes,
                    false => TakenBack::TooLate,
                })
            }
        }
    }
}
