//! Messages to the agent: accepted, given to the engine, taken back; each an item on the record.

use falconer_event::{Body, Item, PromptState, Source};

use super::known::{self, Known};
use super::recorder::Recorder;
use super::turns::{Sent, Turns};
use crate::engine::{Fate, Prompt, TurnEnd};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::message::{Cancelled, Message, MessageId};

/// The messages of a run.
pub(super) struct Prompts {
    turns: Turns,
    /// The ids of messages that were accepted.
    known: Known,
    /// The most messages that may wait.
    queue: usize,
}

impl Prompts {
    pub(super) fn new(queue: usize) -> Self {
        Self {
            turns: Turns::default(),
            known: Known::default(),
            queue,
        }
    }

    /// Returns `true` if a message was ever accepted.
    pub(super) fn is_touched(&self) -> bool {
        self.turns.is_touched()
    }

    /// Returns `true` if nothing is left to be answered.
    pub(super) fn is_done(&self) -> bool {
        self.turns.is_done()
    }

    /// Returns `true` if the engine works on a message, or is about to.
    pub(super) fn is_at_work(&self) -> bool {
        self.turns.is_at_work()
    }

    /// Accepts a message; `winding_down` is why no new ones are.
    pub(super) fn accept(
        &mut self,
        message: Message,
        winding_down: Option<String>,
        recorder: &mut Recorder,
    ) -> Result<MessageId, Error> {
        let given = message.id.map(|id| MessageId(id.to_string()));
        match given.as_ref().and_then(|id| self.known.fate(id)) {
            Some(known::Fate::Cancelled) => {
                let id = given.map(|id| id.0).unwrap_or_default();
                return Err(Error::MessageCancelled(id));
            }
            Some(known::Fate::Accepted) => return given.ok_or(Error::Over),
            None => {}
        }
        if let Some(why) = winding_down {
            return Err(Error::WindingDown(why));
        }
        if self.turns.waiting() >= self.queue {
            return Err(Error::QueueFull(self.queue));
        }
        let id = given.unwrap_or_else(|| MessageId(uuid::Uuid::new_v4().to_string()));
        self.enter(message, id.clone(), recorder);
        Ok(id)
    }

    /// It is on the record before it can go anywhere.
    fn enter(&mut self, message: Message, id: MessageId, recorder: &mut Recorder) {
        let shown = message.shown();
        self.known.accept(id.clone());
        let item = Item::prompt(id.as_str(), shown.clone());
        recorder.note(Source::User, Body::ItemStarted(Box::new(item)));
        self.turns.add(Sent::new(id, message.parts, shown));
    }

    /// Returns the next prompt to be given to the engine.
    pub(super) fn next(&mut self) -> Option<Prompt> {
        self.turns.next().map(Sent::into_prompt)
    }

    /// Sends messages once more, under other names.
    pub(super) fn again(&mut self, messages: Vec<Sent>) {
        for message in messages {
            self.turns.push(message.renamed());
        }
    }

    /// Sends everything that was not answered to another conversation, which is told what was
    /// said last.
    pub(super) fn start_anew(&mut self, unanswered: Vec<Sent>, last: Option<Exchange>) {
        self.turns.again(unanswered, last);
    }

    /// Returns the messages that a turn has answered.
    pub(super) fn answered(&mut self, turn: &TurnEnd) -> Vec<Sent> {
        self.turns.answered(turn)
    }

    /// The engine was given a message, by its name for it.
    pub(super) fn sent(&mut self, wire: &str, recorder: &mut Recorder) {
        if let Some(message) = self.turns.told(wire) {
            self.over(message, PromptState::Sent, None, recorder);
        }
    }

    /// The engine says how far it is with a message.
    pub(super) fn step(&mut self, wire: &str, fate: Fate, recorder: &mut Recorder) {
        self.sent(wire, recorder);
        match fate {
            Fate::Taken => {}
            // Read along the way, or never to be answered: no result need come.
            Fate::Done => drop(self.turns.lost(wire)),
            Fate::Cancelled => {
                let message = self.turns.lost(wire);
                self.taken_back(message, recorder);
            }
        }
    }

    /// A turn names its prompts: the engine has them, and they get the names they have outside.
    pub(super) fn name(&mut self, prompts: &mut [String], recorder: &mut Recorder) {
        for prompt in prompts {
            self.sent(prompt, recorder);
            if let Some(id) = self.turns.name_of(prompt) {
                id.as_str().clone_into(prompt);
            }
        }
    }

    /// A message could not be given to the engine.
    pub(super) fn lost(&mut self, wire: &str, why: &str, recorder: &mut Recorder) {
        if let Some(message) = self.turns.lost(wire) {
            self.over(message, PromptState::Cancelled, Some(why), recorder);
        }
    }

    /// Everything that was accepted and not sent is told to be so.
    pub(super) fn drop_unsent(&mut self, why: &str, recorder: &mut Recorder) {
        for message in self.turns.drop_unsent() {
            self.over(message, PromptState::Cancelled, Some(why), recorder);
        }
    }

    /// At the very end also what was on its way.
    pub(super) fn drop_all(&mut self, why: &str, recorder: &mut Recorder) {
        for message in self.turns.drop_untold() {
            self.over(message, PromptState::Cancelled, Some(why), recorder);
        }
        self.drop_unsent(why, recorder);
    }

    /// Takes back a message that waits here; the engine's name for it if it has it already.
    pub(super) fn take(&mut self, id: &MessageId) -> Result<Option<Sent>, String> {
        let taken = self.turns.cancel(id);
        match self.turns.in_flight(id) {
            Some(wire) if taken.is_none() => Err(wire.to_owned()),
            _ => Ok(taken),
        }
    }

    /// A message that was waiting here is taken back.
    pub(super) fn taken_back(
        &mut self,
        message: Option<Sent>,
        recorder: &mut Recorder,
    ) -> Cancelled {
        match message {
            Some(message) => {
                let why = Some("taken back");
                self.over(message, PromptState::Cancelled, why, recorder);
                Cancelled::Yes
            }
            None => Cancelled::TooLate,
        }
    }

    /// The engine gave a message back that it had not read yet.
    pub(super) fn engine_took_back(&mut self, id: &MessageId, recorder: &mut Recorder) {
        let message = self.turns.cancelled(id);
        self.taken_back(message, recorder);
    }

    fn over(
        &mut self,
        message: Sent,
        state: PromptState,
        reason: Option<&str>,
        recorder: &mut Recorder,
    ) {
        let mut shown = message.shown;
        shown.state = state;
        shown.reason = reason.map(str::to_owned);
        if state == PromptState::Cancelled {
            self.known.cancel(&message.id);
        }
        let item = Item::prompt(message.id.as_str(), shown);
        recorder.note(Source::User, Body::ItemCompleted(Box::new(item)));
    }
}
