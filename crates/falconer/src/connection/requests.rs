//! Our requests to the engine that wait for an answer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::oneshot;

/// An answer of the engine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// Done, with this (or no) result.
    Done(Value),
    /// Refused, with a text and perhaps a code.
    Refused {
        /// The engine's words.
        message: String,
        /// Its code, if it sent one.
        code: Option<String>,
    },
}

/// The open requests of one connection.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    open: Mutex<Open>,
    next: AtomicU64,
}

#[derive(Debug, Default)]
struct Open {
    waiting: HashMap<String, oneshot::Sender<Answer>>,
    /// The connection has ended: nobody will answer any more.
    ended: bool,
}

/// A request that waits. Dropping it forgets the request.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    requests: &'a Requests,
    id: String,
    answer: oneshot::Receiver<Answer>,
}

impl Requests {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a request under a new id.
    pub(crate) fn register(&self) -> Waiting<'_> {
        let id = format!("falconer-{}", self.next.fetch_add(1, Ordering::Relaxed) + 1);
        let (tx, answer) = oneshot::channel();
        let mut open = self.open();
        if !open.ended {
            open.waiting.insert(id.clone(), tx);
        }
        drop(open);
        Waiting {
            requests: self,
            id,
            answer,
        }
    }

    /// Hands an answer to whoever waits for it. `false` if nobody does: it came twice, too
    /// late, or was never asked.
    pub(crate) fn answer(&self, id: &str, answer: Answer) -> bool {
        let Some(waiting) = self.open().waiting.remove(id) else {
            return false;
        };
        waiting.send(answer).is_ok()
    }

    /// Lets everyone know that no answer will come.
    pub(crate) fn end(&self) {
        let mut open = self.open();
        open.ended = true;
        open.waiting.clear();
    }

    /// Returns the number of requests that wait.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.open().waiting.len()
    }
}

impl Waiting<'_> {
    /// The id to send.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Waits for the answer; `None` if the connection ended first.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.requests.open().waiting.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_reaches_its_request_once() {
        let requests = Requests::default();
        let mut first = requests.register();
        let mut second = requests.register();
        assert_ne!(first.id(), second.id());
        let answer = Answer::Done(Value::Bool(true));
        assert!(requests.answer(second.id(), answer.clone()));
        assert!(
            !requests.answer(second.id(), answer.clone()),
            "answered twice"
        );
        assert_eq!(second.answer().await, Some(answer));
        requests.end();
        assert_eq!(first.answer().await, None);
    }

    #[tokio::test]
    async fn a_request_after_the_end_fails_at_once_and_none_is_leaked() {
        let requests = Requests::default();
        drop(requests.register());
        assert_eq!(requests.len(), 0);
        requests.end();
        let mut late = requests.register();
        assert_eq!(late.answer().await, None);
    }
}
