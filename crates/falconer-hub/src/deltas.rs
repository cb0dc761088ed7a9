//! What is streamed and not kept: pieces of texts under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use falconer_store::SessionId;
use tokio::sync::broadcast;

/// Pieces that may wait for a reader. A slower one loses pieces, never events: the whole text
/// comes with the item's completion.
const WAITING: usize = 1024;

/// A piece of a text under way.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Delta {
    /// The number of the event it comes after.
    pub seq: u64,
    /// The event as JSON.
    pub json: Arc<str>,
}

/// The pieces of one session's texts, from now on.
#[derive(Debug)]
pub struct Deltas {
    pieces: broadcast::Receiver<Delta>,
}

impl Deltas {
    /// The next piece; `None` if there will be none, because nobody runs the session any more.
    pub async fn next(&mut self) -> Option<Delta> {
        loop {
            match self.pieces.recv().await {
                Ok(delta) => return Some(delta),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

/// Who listens to which session.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    sessions: Mutex<HashMap<SessionId, broadcast::Sender<Delta>>>,
}

impl Listeners {
    pub(crate) fn listen(&self, session: &SessionId) -> Deltas {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = sessions
            .entry(session.clone())
            .or_insert_with(|| broadcast::channel(WAITING).0);
        Deltas {
            pieces: sender.subscribe(),
        }
    }

    /// Tells those who listen. A session without listeners is forgotten.
    pub(crate) fn tell(&self, session: &SessionId, delta: impl FnOnce() -> Option<Delta>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = sessions.get(session) else {
            return;
        };
        if sender.receiver_count() == 0 {
            sessions.remove(session);
        } else if let Some(delta) = delta() {
            // An error means that the last listener has just left.
            let _ = sender.send(delta);
        }
    }
}
