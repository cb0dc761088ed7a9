//! The way of events to their reader.
//!
//! The rule for a slow reader: nothing is dropped and nobody is held up. The session stops
//! reading the engine's messages when so many events wait ([`crate::SessionSpec::backlog`]); the
//! messages then wait in the connection, which keeps them in a file once they are many. Requests
//! of the engine do not wait: permissions are asked, and limits of time hold, all the same.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use falconer_event::Event;
use futures_core::Stream;
use tokio::sync::{Notify, mpsc};

/// The events of one run, in order; `run.completed` is the last one.
#[derive(Debug)]
#[must_use = "a stream that is dropped loses its events; the run goes on"]
pub struct EventStream {
    events: mpsc::UnboundedReceiver<Event>,
    waiting: Arc<Waiting>,
}

/// The session's end of a stream.
#[derive(Debug)]
pub(crate) struct Outlet {
    events: mpsc::UnboundedSender<Event>,
    waiting: Arc<Waiting>,
    most: usize,
}

/// How many events wait, and whom to wake when one is taken.
#[derive(Debug, Default)]
struct Waiting {
    events: AtomicUsize,
    taken: Notify,
}

/// A stream and its other end. The queue is bounded by the session, which asks for room.
pub(crate) fn stream(most: usize) -> (Outlet, EventStream) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::new(Waiting::default());
    let outlet = Outlet {
        events: sender,
        waiting: waiting.clone(),
        most: most.max(1),
    };
    let stream = EventStream {
        events: receiver,
        waiting,
    };
    (outlet, stream)
}

impl Outlet {
    pub(crate) fn put(&self, event: Event) {
        self.waiting.events.fetch_add(1, Ordering::AcqRel);
        // Without a reader events go to the transcript only.
        if self.events.send(event).is_err() {
            self.waiting.events.store(0, Ordering::Release);
        }
    }

    pub(crate) fn has_room(&self) -> bool {
        self.waiting.events.load(Ordering::Acquire) < self.most || self.events.is_closed()
    }

    /// Waits until something changed about the room.
    pub(crate) async fn changed(&self) {
        tokio::select! {
            () = self.waiting.taken.notified() => {}
            () = self.events.closed() => {}
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.events.is_closed()
    }

    pub(crate) async fn closed(&self) {
        self.events.closed().await;
    }
}

impl EventStream {
    /// The next event; `None` after `run.completed`.
    pub async fn next(&mut self) -> Option<Event> {
        std::future::poll_fn(|cx| self.poll_event(cx)).await
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let event = std::task::ready!(self.events.poll_recv(cx));
        if event.is_some() {
            self.waiting.events.fetch_sub(1, Ordering::AcqRel);
            self.waiting.taken.notify_one();
        }
        Poll::Ready(event)
    }
}

impl Stream for EventStream {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.poll_event(cx)
    }
}
