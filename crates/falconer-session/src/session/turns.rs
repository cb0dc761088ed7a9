//! Which messages wait, which are on their way, and which are being answered. Pure.

use std::collections::{HashMap, VecDeque};

use falconer_event::{Delivery, Prompt as Shown};

use crate::engine::{Prompt, TurnEnd};
use crate::exchange::Exchange;
use crate::message::{MessageId, Part};

/// The messages of a run, from being accepted to being answered.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Waiting for the turns before them.
    waiting: VecDeque<Sent>,
    /// To be written to the engine now.
    leaving: VecDeque<Sent>,
    /// Given to the engine, or on the way to it, and not answered yet.
    in_flight: HashMap<String, Sent>,
    /// How many messages were accepted.
    accepted: u64,
    /// What the next message has to tell the engine, which knows nothing of it.
    lost: Option<Exchange>,
}

/// A message, with what is needed to send it again.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) id: MessageId,
    /// What the engine calls it; a message that is sent again has another name then.
    wire: String,
    parts: Vec<Part>,
    /// As its item shows it.
    pub(super) shown: Shown,
    /// How often it was sent.
    pub(super) attempts: u32,
    /// Which one it is; they are sent again in their order.
    number: u64,
    /// Whether the record says that it was sent.
    is_told: bool,
}

impl Sent {
    pub(super) fn new(id: MessageId, parts: Vec<Part>, shown: Shown) -> Self {
        Self {
            wire: id.as_str().to_owned(),
            id,
            parts,
            shown,
            attempts: 0,
            number: 0,
            is_told: false,
        }
    }

    /// The same message under another name: the engine knows the old one already and would take
    /// this for a repetition.
    pub(super) fn renamed(self) -> Self {
        Self {
            wire: uuid::Uuid::new_v4().to_string(),
            ..self
        }
    }

    /// As the engine gets it.
    pub(super) fn into_prompt(self) -> Prompt {
        Prompt {
            id: self.wire,
            parts: self.parts,
            delivery: self.shown.delivery,
        }
    }

    /// Tells a model that does not know it what was said before. A command stays a command.
    fn add_context(&mut self, last: &Exchange) {
        match self.parts.as_mut_slice() {
            [Part::Text(text)] if text.starts_with('/') => {}
            [Part::Text(text)] => text.insert_str(0, &last.told()),
            _ => self.parts.insert(0, Part::Text(last.told())),
        }
    }
}

impl Turns {
    /// How many messages wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len() + self.leaving.len()
    }

    /// Whether a message was ever accepted.
    pub(super) fn is_touched(&self) -> bool {
        self.accepted > 0
    }

    /// Whether nothing is left to be answered.
    pub(super) fn is_done(&self) -> bool {
        self.waiting() == 0 && self.in_flight.is_empty()
    }

    /// Whether the engine works on a message, or is about to.
    pub(super) fn is_at_work(&self) -> bool {
        !self.in_flight.is_empty() || !self.leaving.is_empty()
    }

    /// Adds a message, by its delivery.
    pub(super) fn add(&mut self, message: Sent) {
        match message.shown.delivery {
            Delivery::Steer | Delivery::Interrupt => self.push(message),
            _ => self.queue(message),
        }
    }

    fn queue(&mut self, message: Sent) {
        let message = self.numbered(message);
        self.waiting.push_back(message);
        self.release();
    }

    /// Goes out now, whatever is under way.
    pub(super) fn push(&mut self, message: Sent) {
        let message = self.numbered(message);
        self.leaving.push_back(message);
    }

    fn numbered(&mut self, mut message: Sent) -> Sent {
        if message.number == 0 {
            self.accepted += 1;
            message.number = self.accepted;
        }
        message
    }

    /// The next message to be written; it is in flight from then on.
    pub(super) fn next(&mut self) -> Option<Sent> {
        let mut message = self.leaving.pop_front()?;
        message.attempts += 1;
        if let Some(last) = self.lost.take() {
            message.add_context(&last);
        }
        self.in_flight.insert(message.wire.clone(), message.clone());
        Some(message)
    }

    /// The engine was given a message; it is returned if that is news.
    pub(super) fn told(&mut self, wire: &str) -> Option<Sent> {
        let message = self.in_flight.get_mut(wire)?;
        let is_news = !std::mem::replace(&mut message.is_told, true);
        is_news.then(|| message.clone())
    }

    /// A message could not be written.
    pub(super) fn lost(&mut self, wire: &str) -> Option<Sent> {
        let message = self.in_flight.remove(wire);
        self.release();
        message
    }

    /// A turn is over; returns the messages it answers.
    pub(super) fn answered(&mut self, turn: &TurnEnd) -> Vec<Sent> {
        let named = turn.prompts.iter();
        let mut answered: Vec<Sent> = named.filter_map(|id| self.in_flight.remove(id)).collect();
        // An engine that names nothing has answered what it was given; a turn that something
        // else caused has answered nothing.
        if turn.prompts.is_empty() && !turn.is_unprompted {
            answered.extend(self.in_flight.drain().map(|(_, message)| message));
        }
        answered.sort_by_key(|message| message.number);
        self.release();
        answered
    }

    /// One message at a time leaves the queue.
    fn release(&mut self) {
        if !self.is_at_work()
            && let Some(message) = self.waiting.pop_front()
        {
            self.leaving.push_back(message);
        }
    }

    /// Takes back a message that was not written yet.
    pub(super) fn cancel(&mut self, id: &MessageId) -> Option<Sent> {
        let taken = take(&mut self.waiting, id).or_else(|| take(&mut self.leaving, id));
        self.release();
        taken
    }

    /// The engine took a message back.
    pub(super) fn cancelled(&mut self, id: &MessageId) -> Option<Sent> {
        let wire = self.in_flight(id)?.to_owned();
        self.lost(&wire)
    }

    /// What the engine calls a message it has not answered yet.
    pub(super) fn in_flight(&self, id: &MessageId) -> Option<&str> {
        let mut messages = self.in_flight.values();
        messages
            .find(|message| message.id == *id)
            .map(|message| message.wire.as_str())
    }

    /// What a message that the engine calls this is called outside, if that differs.
    pub(super) fn name_of(&self, wire: &str) -> Option<&MessageId> {
        let message = self.in_flight.get(wire)?;
        (message.id.as_str() != wire).then_some(&message.id)
    }

    /// Everything that was not answered is to be sent once more, to another conversation; the
    /// first message that leaves tells it what it has to know.
    pub(super) fn again(&mut self, unanswered: Vec<Sent>, last: Option<Exchange>) {
        let mut all: Vec<Sent> = unanswered;
        all.extend(self.in_flight.drain().map(|(_, message)| message));
        all.extend(self.leaving.drain(..));
        all.extend(self.waiting.drain(..));
        all.sort_by_key(|message| message.number);
        self.lost = last;
        self.waiting.extend(all);
        self.release();
    }

    /// Drops what the engine was not given, and returns what was never said to be sent.
    pub(super) fn drop_unsent(&mut self) -> Vec<Sent> {
        let mut unsent: Vec<Sent> = self.waiting.drain(..).collect();
        unsent.extend(self.leaving.drain(..));
        unsent.retain(|message| !message.is_told);
        unsent.sort_by_key(|message| message.number);
        unsent
    }

    /// What is in flight without anybody knowing whether it arrived.
    pub(super) fn drop_untold(&mut self) -> Vec<Sent> {
        let in_flight = self.in_flight.extract_if(|_, message| !message.is_told);
        let mut untold: Vec<Sent> = in_flight.map(|(_, message)| message).collect();
        untold.sort_by_key(|message| message.number);
        untold
    }
}

fn take(messages: &mut VecDeque<Sent>, id: &MessageId) -> Option<Sent> {
    let place = messages.iter().position(|message| message.id == *id)?;
    messages.remove(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str) -> Sent {
        let shown = Shown::queued(id, Delivery::Queue);
        let parts = vec![Part::Text(id.to_owned())];
        Sent::new(MessageId(id.to_owned()), parts, shown)
    }

    fn result(ids: &[&str]) -> TurnEnd {
        TurnEnd {
            prompts: ids.iter().map(|id| (*id).to_owned()).collect(),
            ..TurnEnd::default()
        }
    }

    fn sent(turns: &mut Turns) -> Vec<String> {
        std::iter::from_fn(|| turns.next())
            .map(|message| message.id.0)
            .collect()
    }

    #[test]
    fn queued_messages_go_one_after_the_other() {
        let mut turns = Turns::default();
        for id in ["a", "b", "c"] {
            turns.queue(message(id));
        }
        assert_eq!(sent(&mut turns), ["a"]);
        assert!(turns.cancel(&MessageId("b".to_owned())).is_some());
        assert!(turns.cancel(&MessageId("a".to_owned())).is_none());
        assert_eq!(turns.answered(&result(&["a"])).len(), 1);
        assert_eq!(sent(&mut turns), ["c"]);
        assert!(!turns.is_done());
        turns.answered(&result(&[]));
        assert!(turns.is_done());
    }

    #[test]
    fn a_pushed_message_does_not_wait() {
        let mut turns = Turns::default();
        turns.queue(message("a"));
        assert_eq!(sent(&mut turns), ["a"]);
        turns.queue(message("b"));
        turns.push(message("c"));
        assert_eq!(sent(&mut turns), ["c"]);
        turns.answered(&result(&["a"]));
        assert!(sent(&mut turns).is_empty());
        turns.answered(&result(&["c"]));
        assert_eq!(sent(&mut turns), ["b"]);
    }

    #[test]
    fn a_message_is_said_to_be_sent_once_and_answered_in_its_order() {
        let mut turns = Turns::default();
        for id in ["z", "a"] {
            turns.push(message(id));
        }
        assert_eq!(sent(&mut turns), ["z", "a"]);
        assert!(turns.told("z").is_some());
        assert!(turns.told("z").is_none());
        assert!(turns.told("nobody").is_none());
        let answered = turns.answered(&result(&[]));
        let ids: Vec<&str> = answered.iter().map(|message| message.id.as_str()).collect();
        assert_eq!(ids, ["z", "a"]);
        let again = answered[0].clone().renamed();
        let wire = again.wire.clone();
        turns.push(again);
        assert_eq!(sent(&mut turns), ["z"]);
        assert_eq!(turns.name_of(&wire).unwrap().as_str(), "z");
        assert!(turns.told(&wire).is_none(), "the record says so already");
        assert!(turns.drop_untold().is_empty());
    }

    #[test]
    fn what_was_never_sent_is_known_at_the_end() {
        let mut turns = Turns::default();
        for id in ["a", "b", "c"] {
            turns.queue(message(id));
        }
        assert_eq!(sent(&mut turns), ["a"]);
        let ids = |messages: Vec<Sent>| -> Vec<String> {
            messages.into_iter().map(|message| message.id.0).collect()
        };
        assert_eq!(ids(turns.drop_unsent()), ["b", "c"]);
        assert_eq!(ids(turns.drop_untold()), ["a"]);
        assert!(turns.is_done());
    }
}
