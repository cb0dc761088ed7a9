//! The memory of a run. A run may be long, so it holds a fixed number of things.

use std::collections::{HashSet, VecDeque};

use falconer_protocol::ToolUseId;

/// Number of finished calls that are remembered.
const CALLS: usize = 1024;
/// Number of messages of the model that may come piece by piece at the same time.
const MESSAGES: usize = 64;

/// The last calls that are over.
#[derive(Debug, Default)]
pub(super) struct Finished {
    known: HashSet<ToolUseId>,
    order: VecDeque<ToolUseId>,
}

impl Finished {
    pub(super) fn contains(&self, call: &ToolUseId) -> bool {
        self.known.contains(call)
    }

    /// Notes that a call is over, and says whether that is news.
    pub(super) fn insert(&mut self, call: &ToolUseId) -> bool {
        if !self.known.insert(call.clone()) {
            return false;
        }
        self.order.push_back(call.clone());
        if self.order.len() > CALLS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

/// The number of blocks that have come of each of the last messages.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    counts: VecDeque<(String, usize)>,
}

impl Blocks {
    /// The place of the next block of a message, by the message's id.
    pub(super) fn next(&mut self, message: &str) -> usize {
        // The newest are at the end, and it is nearly always the newest.
        if let Some((_, count)) = self.counts.iter_mut().rfind(|(id, _)| id == message) {
            *count += 1;
            return *count - 1;
        }
        if self.counts.len() == MESSAGES {
            self.counts.pop_front();
        }
        self.counts.push_back((message.to_owned(), 1));
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_calls_are_remembered() {
        let mut finished = Finished::default();
        for number in 0..=CALLS {
            assert!(finished.insert(&number.to_string().into()));
        }
        assert!(!finished.insert(&CALLS.to_string().into()), "it is known");
        assert!(!finished.contains(&"0".into()), "the oldest is forgotten");
        assert!(finished.contains(&"1".into()));
        assert_eq!((finished.known.len(), finished.order.len()), (CALLS, CALLS));
    }

    #[test]
    fn blocks_are_counted_for_each_message_and_only_so_many() {
        let mut blocks = Blocks::default();
        assert_eq!(
            [blocks.next("a"), blocks.next("b"), blocks.next("a")],
            [0, 0, 1]
        );
        for number in 0..MESSAGES {
            blocks.next(&format!("m{number}"));
        }
        assert_eq!(blocks.counts.len(), MESSAGES);
        assert_eq!(blocks.next("a"), 0, "it is forgotten");
    }
}
