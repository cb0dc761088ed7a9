//! Messages to the agent: accepted, given to the engine, taken back; each an item on the record.

use falconer::Priority;
use falconer_event::{Body, Item, PromptState, Source};
use falconer_protocol::message::{CommandLifecycleMessage, CommandState};
use tokio::time::Instant;

use super::driving::Engine;
use super::known::Fate;
use super::live::Live;
use super::turns::Message as Sent;
use crate::error::Error;
use crate::handle::Reply;
use crate::message::{Cancelled, Delivery, Message, MessageId};

impl Live {
    pub(super) fn accept(&mut self, message: Message, reply: Reply<MessageId>) {
        let _ = reply.send(self.accepted(message));
    }

    fn accepted(&mut self, message: Message) -> Result<MessageId, Error> {
        let given = message.prompt.input().uuid.as_ref();
        let given = given.map(|id| MessageId(id.as_str().to_owned()));
        match given.as_ref().and_then(|id| self.known.fate(id)) {
            Some(Fate::Cancelled) => {
                let id = given.map(|id| id.0).unwrap_or_default();
                return Err(Error::MessageCancelled(id));
            }
            Some(Fate::Accepted) => return given.ok_or(Error::Over),
            None => {}
        }
        if let Some(ending) = &self.ending {
            let why = ending.failure.as_ref().map(|failure| failure.text.clone());
            return Err(Error::WindingDown(why.unwrap_or_default()));
        }
        if self.turns.waiting() >= self.queue {
            return Err(Error::QueueFull(self.queue));
        }
        Ok(self.enter(message, given))
    }

    /// It is on the record before it can go anywhere.
    fn enter(&mut self, message: Message, given: Option<MessageId>) -> MessageId {
        let shown = message.shown();
        let (id, prompt) = match given {
            Some(id) => (id, message.prompt),
            None => {
                let uuid = uuid::Uuid::new_v4();
                (MessageId(uuid.to_string()), message.prompt.id(uuid))
            }
        };
        self.known.accept(id.clone());
        let item = Item::prompt(id.as_str(), shown.clone());
        self.recorder
            .note(Source::User, Body::ItemStarted(Box::new(item)));
        let sent = |prompt| Sent::new(id.clone(), prompt, shown);
        match message.delivery {
            Delivery::Queue => self.turns.queue(sent(prompt)),
            Delivery::Push => self.turns.push(sent(prompt.priority(Priority::Next))),
            Delivery::Interrupt => self.turns.push(sent(prompt.priority(Priority::Now))),
        }
        self.watch.heard(Instant::now());
        id
    }

    /// The engine was given a message, by its name for it.
    pub(super) fn prompt_sent(&mut self, wire: &str) {
        if let Some(message) = self.turns.told(wire) {
            self.prompt_over(message, PromptState::Sent, None);
        }
    }

    /// The engine says how far it is with a message.
    pub(super) fn prompt_step(&mut self, step: &CommandLifecycleMessage) {
        let wire = step.command_uuid.as_str();
        self.prompt_sent(wire);
        match step.state {
            // Read along the way, or never to be answered: no result need come.
            CommandState::Completed => drop(self.turns.lost(wire)),
            CommandState::Cancelled => {
                let message = self.turns.lost(wire);
                self.taken_back(message);
            }
            _ => {}
        }
    }

    /// A message could not be given to the engine.
    pub(super) fn prompt_lost(&mut self, wire: &str, why: &str) {
        if let Some(message) = self.turns.lost(wire) {
            self.prompt_over(message, PromptState::Cancelled, Some(why));
        }
    }

    /// Everything that was accepted and not sent is told to be so.
    pub(super) fn prompts_unsent(&mut self, why: &str) {
        for message in self.turns.drop_unsent() {
            self.prompt_over(message, PromptState::Cancelled, Some(why));
        }
    }

    /// At the very end also what was on its way.
    pub(super) fn prompts_over(&mut self, why: &str) {
        let mut unsent = self.turns.drop_untold();
        unsent.extend(self.turns.drop_unsent());
        for message in unsent {
            self.prompt_over(message, PromptState::Cancelled, Some(why));
        }
    }

    fn prompt_over(&mut self, message: Sent, state: PromptState, reason: Option<&str>) {
        let mut shown = message.shown;
        shown.state = state;
        shown.reason = reason.map(str::to_owned);
        if state == PromptState::Cancelled {
            self.known.cancel(&message.id);
        }
        let item = Item::prompt(message.id.as_str(), shown);
        self.recorder
            .note(Source::User, Body::ItemCompleted(Box::new(item)));
    }

    pub(super) fn cancel(&mut self, engine: &Engine, id: MessageId, reply: Reply<Cancelled>) {
        let ours = self.turns.cancel(&id).or_else(|| self.cancel_retry(&id));
        let Some(wire) = self.turns.in_flight(&id).filter(|_| ours.is_none()) else {
            let _ = reply.send(Ok(self.taken_back(ours)));
            return;
        };
        let request = falconer_protocol::control::CancelAsyncMessage {
            message_uuid: wire.into(),
            ..Default::default()
        };
        let client = engine.client.clone();
        self.jobs.spawn(async move {
            let answer = client.request(request.into()).await;
            let was_found = |answer: &serde_json::Value| answer["cancelled"] == true;
            let taken_back = answer.as_ref().is_ok_and(was_found).then_some(id);
            let answer = answer.map(|answer| match was_found(&answer) {
                true => Cancelled::Yes,
                false => Cancelled::TooLate,
            });
            let _ = reply.send(answer.map_err(Error::from));
            taken_back
        });
    }

    /// A message that was waiting here is taken back.
    pub(super) fn taken_back(&mut self, message: Option<Sent>) -> Cancelled {
        match message {
            Some(message) => {
                self.prompt_over(message, PromptState::Cancelled, Some("taken back"));
                Cancelled::Yes
            }
            None => Cancelled::TooLate,
        }
    }

    /// The engine gave a message back that it had not read yet.
    pub(super) fn engine_took_back(&mut self, id: &MessageId) {
        let message = self.turns.cancelled(id);
        self.taken_back(message);
    }
}
