//! The messages a session has accepted, by their ids. Pure.

use std::collections::{HashMap, VecDeque};

use crate::message::MessageId;

/// How many ids are remembered; who repeats an older one is not recognised.
const REMEMBERED: usize = 4096;

/// What is known of a message by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Accepted,
    Cancelled,
}

/// The last ids that were accepted.
#[derive(Debug, Default)]
pub(super) struct Known {
    fates: HashMap<MessageId, Fate>,
    order: VecDeque<MessageId>,
}

impl Known {
    pub(super) fn fate(&self, id: &MessageId) -> Option<Fate> {
        self.fates.get(id).copied()
    }

    pub(super) fn accept(&mut self, id: MessageId) {
        if self.fates.insert(id.clone(), Fate::Accepted).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.fates.remove(&oldest);
        }
    }

    pub(super) fn cancel(&mut self, id: &MessageId) {
        if let Some(fate) = self.fates.get_mut(id) {
            *fate = Fate::Cancelled;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_ids_are_remembered() {
        let mut known = Known::default();
        for number in 0..=REMEMBERED {
            known.accept(MessageId(number.to_string()));
        }
        let last = MessageId(REMEMBERED.to_string());
        known.cancel(&last);
        assert_eq!(known.fate(&last), Some(Fate::Cancelled));
        assert_eq!(known.fate(&MessageId("0".to_owned())), None);
        assert_eq!(known.fate(&MessageId("1".to_owned())), Some(Fate::Accepted));
        assert_eq!(known.fates.len(), REMEMBERED);
    }
}
