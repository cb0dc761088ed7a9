//! Which messages wait, which are on their way, and which are being answered. Pure.

use std::collections::{HashMap, VecDeque};

use falconer::Prompt;
use falconer_protocol::message::ResultMessage;

use crate::handle::MessageId;

/// The messages of a run, from being sent to being answered.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Waiting for the turns before them.
    waiting: VecDeque<Message>,
    /// To be written to the engine now.
    leaving: VecDeque<Message>,
    /// Written, and not answered yet.
    in_flight: HashMap<String, Message>,
    /// Whether a message was ever accepted.
    is_touched: bool,
}

/// A message, with what is needed to send it again.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) id: MessageId,
    /// What the engine calls it; a message that is sent again has another name then.
    pub(super) wire: String,
    pub(super) prompt: Prompt,
    /// How often it was sent.
    pub(super) attempts: u32,
}

impl Turns {
    /// How many messages wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len() + self.leaving.len()
    }

    pub(super) fn is_touched(&self) -> bool {
        self.is_touched
    }

    /// Whether nothing is left to be answered.
    pub(super) fn is_done(&self) -> bool {
        self.waiting() == 0 && self.in_flight.is_empty()
    }

    /// Whether the engine works on a message, or is about to.
    pub(super) fn is_at_work(&self) -> bool {
        !self.in_flight.is_empty() || !self.leaving.is_empty()
    }

    pub(super) fn queue(&mut self, message: Message) {
        self.is_touched = true;
        self.waiting.push_back(message);
        self.release();
    }

    /// Goes out now, whatever is under way.
    pub(super) fn push(&mut self, message: Message) {
        self.is_touched = true;
        self.leaving.push_back(message);
    }

    /// The next message to be written; it is in flight from then on.
    pub(super) fn next(&mut self) -> Option<Message> {
        let mut message = self.leaving.pop_front()?;
        message.attempts += 1;
        self.in_flight.insert(message.wire.clone(), message.clone());
        Some(message)
    }

    /// A result came; returns the messages it answers.
    pub(super) fn answered(&mut self, result: &ResultMessage) -> Vec<Message> {
        let several = result.user_message_uuids.iter().flatten();
        let named: Vec<&str> = several
            .chain(&result.user_message_uuid)
            .map(|id| id.as_str())
            .collect();
        let mut answered: Vec<Message> = named
            .iter()
            .filter_map(|id| self.in_flight.remove(*id))
            .collect();
        // An engine that names nothing has answered what it was given; a turn that something
        // else caused has answered nothing.
        if named.is_empty() && result.origin.is_none() {
            answered.extend(self.in_flight.drain().map(|(_, message)| message));
        }
        answered.sort_by(|one, other| one.id.0.cmp(&other.id.0));
        self.release();
        answered
    }

    /// One message at a time leaves the queue.
    pub(super) fn release(&mut self) {
        if !self.is_at_work()
            && let Some(message) = self.waiting.pop_front()
        {
            self.leaving.push_back(message);
        }
    }

    /// Takes back a message that was not written yet.
    pub(super) fn cancel(&mut self, id: &MessageId) -> bool {
        let before = self.waiting();
        self.waiting.retain(|message| message.id != *id);
        self.leaving.retain(|message| message.id != *id);
        let was_found = self.waiting() < before;
        self.release();
        was_found
    }

    /// The engine took a message back.
    pub(super) fn cancelled(&mut self, id: &MessageId) {
        self.in_flight.retain(|_, message| message.id != *id);
        self.release();
    }

    /// What the engine calls a message it has not answered yet.
    pub(super) fn in_flight(&self, id: &MessageId) -> Option<&str> {
        let mut messages = self.in_flight.values();
        messages
            .find(|message| message.id == *id)
            .map(|message| message.wire.as_str())
    }

    /// Drops what was not written yet.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.leaving.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(id: &str) -> Message {
        Message {
            id: MessageId(id.to_owned()),
            wire: id.to_owned(),
            prompt: id.into(),
            attempts: 0,
        }
    }

    fn result(ids: &[&str]) -> ResultMessage {
        serde_json::from_value(
            json!({"type": "result", "subtype": "success", "is_error": false,
            "user_message_uuids": ids}),
        )
        .unwrap()
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
        assert!(turns.cancel(&MessageId("b".to_owned())));
        assert!(!turns.cancel(&MessageId("a".to_owned())));
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
}
