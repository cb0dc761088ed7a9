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

/// The writing end of a stream: the session's, or that of whoever passes its events on.
#[derive(Debug)]
pub struct Outlet {
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

impl Outlet {
    /// A stream with room for so many events. Who writes has to ask for room; an event that is
    /// put without is delivered all the same.
    pub fn new(most: usize) -> (Self, EventStream) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let waiting = Arc::new(Waiting::default());
        let outlet = Self {
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

    /// Hands an event to the reader, if there is one.
    pub fn put(&self, event: Event) {
        self.waiting.events.fetch_add(1, Ordering::AcqRel);
        // Without a reader events go to the transcript only.
        if self.events.send(event).is_err() {
            self.waiting.events.store(0, Ordering::Release);
        }
    }

    /// Whether fewer events wait than may. Always, without a reader.
    pub fn has_room(&self) -> bool {
        self.waiting.events.load(Ordering::Acquire) < self.most || self.events.is_closed()
    }

    /// Waits until something changed about the room.
    pub async fn changed(&self) {
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
