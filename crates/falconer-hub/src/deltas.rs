//! What is streamed and not kept: pieces of texts under way, and the texts so far.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use falconer_event::{Body, Event, ItemId};
use falconer_store::SessionId;
use tokio::sync::broadcast;

/// Pieces that may wait for a reader. A slower one is told the texts so far once more.
const WAITING: usize = 1024;
/// Bytes of the texts under way that are remembered for each session. A text beyond that is told
/// piece by piece only; the whole comes with the item's completion.
const MOST_REMEMBERED: usize = 1 << 20;

/// A piece of a text under way.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Delta {
    /// The number of the event it comes after.
    pub seq: u64,
    /// The item whose text it is.
    pub item: ItemId,
    /// How many characters of the text come before it.
    pub offset: u64,
    /// How many characters it has.
    pub length: u64,
    /// The event as JSON.
    pub json: Arc<str>,
}

impl Delta {
    fn of(event: &Event) -> Option<Self> {
        let Body::ItemDelta { id, offset, text } = &event.body else {
            return None;
        };
        Some(Self {
            seq: event.seq,
            item: id.clone(),
            offset: *offset,
            length: text.chars().count() as u64,
            json: serde_json::to_string(event).ok()?.into(),
        })
    }

    /// The part of it after this many characters of the text; `None` if nothing is left.
    pub fn after(self, characters: u64) -> Option<Self> {
        if characters <= self.offset {
            return Some(self);
        }
        let skipped = usize::try_from(characters - self.offset).ok()?;
        let mut event: Event = serde_json::from_str(&self.json).ok()?;
        let Body::ItemDelta { offset, text, .. } = &mut event.body else {
            return None;
        };
        let (at, _) = text.char_indices().nth(skipped)?;
        text.drain(..at);
        *offset = characters;
        Self::of(&event)
    }
}

/// The texts under way in one session, from their beginning, and every piece from then on.
#[derive(Debug)]
pub struct Deltas {
    listeners: Arc<Listeners>,
    session: SessionId,
    so_far: VecDeque<Delta>,
    pieces: broadcast::Receiver<Delta>,
}

impl Deltas {
    /// The next piece; `None` if there will be none, because nobody runs the session any more.
    pub async fn next(&mut self) -> Option<Delta> {
        loop {
            if let Some(delta) = self.so_far.pop_front() {
                return Some(delta);
            }
            match self.pieces.recv().await {
                Ok(delta) => return Some(delta),
                Err(broadcast::error::RecvError::Lagged(_)) => self.again(),
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// Begins again with the texts so far; for a reader that lost pieces.
    pub fn again(&mut self) {
        *self = Listeners::listen(&self.listeners, &self.session);
    }
}

/// The texts under way, and who listens to which session.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    sessions: Mutex<HashMap<SessionId, Heard>>,
}

/// One session: whoever begins to listen gets the texts so far and every piece after them, none
/// twice, because both are taken under one lock.
#[derive(Debug, Default)]
struct Heard {
    listening: Option<broadcast::Sender<Delta>>,
    texts: HashMap<ItemId, Text>,
    bytes: usize,
}

/// The text of an item so far, as one piece from its beginning.
#[derive(Debug)]
struct Text {
    event: Event,
    characters: u64,
}

impl Listeners {
    pub(crate) fn listen(this: &Arc<Self>, session: &SessionId) -> Deltas {
        let mut sessions = this.sessions();
        let heard = sessions.entry(session.clone()).or_default();
        let mut so_far: Vec<Delta> = heard.texts.values().filter_map(Text::delta).collect();
        so_far.sort_by_key(|delta| delta.seq);
        let sender = heard
            .listening
            .get_or_insert_with(|| broadcast::channel(WAITING).0);
        Deltas {
            listeners: Arc::clone(this),
            session: session.clone(),
            so_far: so_far.into(),
            pieces: sender.subscribe(),
        }
    }

    /// Remembers a piece and tells those who listen.
    pub(crate) fn tell(&self, session: &SessionId, event: &Event) {
        let mut sessions = self.sessions();
        let heard = sessions.entry(session.clone()).or_default();
        heard.remember(event);
        let is_heard = |sender: &broadcast::Sender<Delta>| sender.receiver_count() > 0;
        if let Some(sender) = heard.listening.as_ref().filter(|sender| is_heard(sender))
            && let Some(delta) = Delta::of(event)
        {
            // An error means that the last listener has just left.
            let _ = sender.send(delta);
        }
    }

    /// The whole text is kept: its beginning is no longer needed.
    pub(crate) fn completed(&self, session: &SessionId, items: &[ItemId]) {
        let mut sessions = self.sessions();
        let Some(heard) = sessions.get_mut(session) else {
            return;
        };
        for item in items {
            heard.forget(item);
        }
    }

    /// The run is over: no text is under way.
    pub(crate) fn over(&self, session: &SessionId) {
        let mut sessions = self.sessions();
        if let Some(heard) = sessions.get_mut(session) {
            heard.texts.clear();
            heard.bytes = 0;
            let is_heard = |sender: &broadcast::Sender<Delta>| sender.receiver_count() > 0;
            if !heard.listening.as_ref().is_some_and(is_heard) {
                sessions.remove(session);
            }
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Heard>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heard {
    fn remember(&mut self, event: &Event) {
        let Body::ItemDelta { id, offset, text } = &event.body else {
            return;
        };
        self.bytes += text.len();
        let added = text.chars().count() as u64;
        match self.texts.get_mut(id) {
            Some(so_far) if so_far.characters == *offset => so_far.add(event.seq, text, added),
            None if *offset == 0 => {
                let so_far = Text {
                    event: event.clone(),
                    characters: added,
                };
                self.texts.insert(id.clone(), so_far);
            }
            // Its beginning is not known, or is too long to be remembered.
            _ => self.bytes -= text.len(),
        }
        if self.bytes > MOST_REMEMBERED {
            self.forget(id);
        }
    }

    fn forget(&mut self, item: &ItemId) {
        if let Some(text) = self.texts.remove(item) {
            self.bytes -= text.bytes();
        }
    }
}

impl Text {
    fn add(&mut self, seq: u64, more: &str, characters: u64) {
        self.event.seq = seq;
        self.characters += characters;
        if let Body::ItemDelta { text, .. } = &mut self.event.body {
            text.push_str(more);
        }
    }

    fn delta(&self) -> Option<Delta> {
        Delta::of(&self.event)
    }

    fn bytes(&self) -> usize {
        match &self.event.body {
            Body::ItemDelta { text, .. } => text.len(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests;
