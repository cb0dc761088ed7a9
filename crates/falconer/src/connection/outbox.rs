//! Lines on their way to the engine.
//!
//! A line is written at once by whoever sends it, if the engine takes it; only what does not
//! fit waits here for the flusher. So an answer costs one system call and no change of task,
//! and lines are never mixed: one malformed line would end the CLI.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::transport::LineSink;

/// Senders wait while this many bytes have not been taken by the engine.
const HIGH_WATER: usize = 1 << 20;

/// The way to the engine, shared by everyone who sends.
pub(crate) struct Outbox {
    lane: Mutex<Lane>,
    /// Tells the flusher that lines wait.
    waiting: Notify,
    /// Tells senders that the flusher made room, or that the lane ended.
    moved: Notify,
}

struct Lane {
    sink: Box<dyn LineSink>,
    pending: VecDeque<Bytes>,
    pending_bytes: usize,
    state: LaneState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LaneState {
    Open,
    /// No more lines are taken; what is pending is written, then the sink is closed.
    Closing,
    Closed,
    Broken(io::ErrorKind),
}

impl Outbox {
    pub(crate) fn new(sink: Box<dyn LineSink>) -> Self {
        let lane = Lane {
            sink,
            pending: VecDeque::new(),
            pending_bytes: 0,
            state: LaneState::Open,
        };
        Self {
            lane: Mutex::new(lane),
            waiting: Notify::new(),
            moved: Notify::new(),
        }
    }

    fn lane(&self) -> MutexGuard<'_, Lane> {
        self.lane.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends one line, newline included; waits while too much is pending.
    ///
    /// Once the first poll has found room the line is sent whole, even if the future is
    /// dropped.
    pub(crate) async fn send(&self, line: Bytes) -> io::Result<()> {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            if let Some(sent) = self.try_send(&line) {
                return sent;
            }
            moved.await;
        }
    }

    /// Sends the line now, or queues it; `None` if too much is pending already.
    fn try_send(&self, line: &Bytes) -> Option<io::Result<()>> {
        let mut lane = self.lane();
        let sent = lane.offer(line)?;
        if !lane.pending.is_empty() {
            self.waiting.notify_one();
        }
        Some(sent)
    }

    /// Ends the engine's input after everything that was sent.
    pub(crate) fn close(&self) {
        let mut lane = self.lane();
        if lane.state == LaneState::Open {
            lane.state = LaneState::Closing;
        }
        self.waiting.notify_one();
    }

    /// Gives up what waits; whoever still sends fails.
    pub(crate) fn abandon(&self) {
        self.lane().broke(io::ErrorKind::BrokenPipe.into());
        self.moved.notify_waiters();
    }

    /// Writes what waits, for as long as the lane lives.
    pub(crate) async fn run_flusher(&self) {
        loop {
            self.waiting.notified().await;
            poll_fn(|cx| self.poll_flush(cx)).await;
            if matches!(self.lane().state, LaneState::Closed | LaneState::Broken(_)) {
                self.moved.notify_waiters();
                return;
            }
        }
    }

    fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut lane = self.lane();
        let flushed = lane.poll_flush(cx);
        if lane.pending_bytes < HIGH_WATER {
            self.moved.notify_waiters();
        }
        flushed
    }
}

impl Lane {
    fn offer(&mut self, line: &Bytes) -> Option<io::Result<()>> {
        match self.state {
            LaneState::Open => {}
            LaneState::Closing | LaneState::Closed => {
                return Some(Err(io::ErrorKind::BrokenPipe.into()));
            }
            LaneState::Broken(kind) => return Some(Err(kind.into())),
        }
        if self.pending_bytes >= HIGH_WATER {
            return None;
        }
        let mut rest = line.clone();
        if self.pending.is_empty() {
            // The flusher registers its own waker when it takes over.
            let mut cx = Context::from_waker(Waker::noop());
            match self.sink.poll_send(&mut cx, &mut rest) {
                Poll::Ready(Ok(())) => return Some(Ok(())),
                Poll::Ready(Err(error)) => return Some(Err(self.broke(error))),
                Poll::Pending => {}
            }
        }
        self.pending_bytes += rest.len();
        self.pending.push_back(rest);
        Some(Ok(()))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(line) = self.pending.front_mut() {
            let before = line.len();
            let sent = self.sink.poll_send(cx, line);
            self.pending_bytes -= before - if sent.is_pending() { line.len() } else { 0 };
            match sent {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => drop(self.pending.pop_front()),
                Poll::Ready(Err(error)) => {
                    self.broke(error);
                    return Poll::Ready(());
                }
            }
        }
        if self.state == LaneState::Closing {
            if self.sink.poll_close(cx).is_pending() {
                return Poll::Pending;
            }
            self.state = LaneState::Closed;
        }
        Poll::Ready(())
    }

    fn broke(&mut self, error: io::Error) -> io::Error {
        self.state = LaneState::Broken(error.kind());
        self.pending.clear();
        self.pending_bytes = 0;
        error
    }
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lane = self.lane();
        f.debug_struct("Outbox")
            .field("pending_bytes", &lane.pending_bytes)
            .field("state", &lane.state)
            .finish_non_exhaustive()
    }
}
