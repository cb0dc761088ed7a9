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
}

/// So many bytes of images count like an event.
const HEAVY: usize = 64 << 10;

/// How many events wait, and whom to wake when there is room again.
#[derive(Debug)]
struct Waiting {
    events: AtomicUsize,
    most: usize,
    drained: Notify,
}

impl Waiting {
    /// The writer is woken when half of them are taken, not for each: otherwise writer and reader
    /// of a full stream take turns for every event.
    fn taken(&self, weight: usize) {
        let before = self.events.fetch_sub(weight, Ordering::AcqRel);
        let half = self.most / 2;
        if before > half && before - weight <= half {
            self.drained.notify_one();
        }
    }
}

impl Outlet {
    /// A stream with room for so many events. Who writes has to ask for room; an event that is
    /// put without is delivered all the same.
    pub fn new(most: usize) -> (Self, EventStream) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let waiting = Arc::new(Waiting {
            events: AtomicUsize::new(0),
            most: most.max(1),
            drained: Notify::new(),
        });
        let outlet = Self {
            events: sender,
            waiting: waiting.clone(),
        };
        let stream = EventStream {
            events: receiver,
            waiting,
        };
        (outlet, stream)
    }

    /// Hands an event to the reader, if there is one.
    pub fn put(&self, event: Event) {
        self.waiting
            .events
            .fetch_add(weight(&event), Ordering::AcqRel);
        // Without a reader events go to the transcript only.
        if self.events.send(event).is_err() {
            self.waiting.events.store(0, Ordering::Release);
        }
    }

    /// Whether fewer events wait than may. Always, without a reader.
    pub fn has_room(&self) -> bool {
        let waiting = self.waiting.events.load(Ordering::Acquire);
        waiting < self.waiting.most || self.events.is_closed()
    }

    /// Waits until something changed about the room: half of what may wait was read, or nobody
    /// reads any more.
    pub async fn changed(&self) {
        tokio::select! {
            () = self.waiting.drained.notified() => {}
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
        if let Some(event) = &event {
            self.waiting.taken(weight(event));
        }
        Poll::Ready(event)
    }
}

/// How many events this one counts for. Images are large, so that a thousand of them would not be
/// a queue any more.
fn weight(event: &Event) -> usize {
    let bytes = |image: &falconer_event::Image| image.data.as_ref().map_or(0, |data| data.len());
    let bytes: usize = event.body.images().iter().map(bytes).sum();
    1 + bytes / HEAVY
}

impl Stream for EventStream {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.poll_event(cx)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn images_take_the_room_they_need_and_give_it_back() {
        let action = json!({"type": "action", "kind": "tool", "title": "t", "tool": "t", "input": {},
            "status": "ok", "images": [{"media_type": "image/jpeg", "bytes": 3}]});
        let event = json!({"seq": 1, "time": "t", "session": "s", "run": "r", "source": "agent",
            "type": "item.completed", "data": {"id": "i", "content": action}});
        let small: Event = serde_json::from_value(event).unwrap();
        let mut large = small.clone();
        let bytes = [vec![0xff, 0xd8, 0xff], vec![0; 9 * HEAVY]].concat();
        large.body.images_mut()[0].data = falconer_event::Image::new(bytes).unwrap().data;
        let (outlet, mut stream) = Outlet::new(10);
        outlet.put(small);
        assert!(outlet.has_room());
        outlet.put(large);
        assert!(!outlet.has_room(), "11 of 10");
        stream.next().await.unwrap();
        assert!(!outlet.has_room(), "10 of 10");
        assert!(outlet.changed().now_or_never().is_none(), "not half of it");
        stream.next().await.unwrap();
        assert!(outlet.changed().now_or_never().is_some());
        assert_eq!(outlet.waiting.events.load(Ordering::Acquire), 0);
    }
}
