//! A transport whose engine is a cassette.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use falconer::{Ending, Engine, EngineExit, Inbound, LineSink, LineSource, Link, Transport};
use futures_util::future::BoxFuture;

use crate::replay::{Mismatch, Next, Replay};

/// A transport that plays the engine's side of a cassette.
///
/// When the host sends something the recording does not have, both lanes fail with an
/// [`io::Error`] whose source is the [`Mismatch`].
#[derive(Debug)]
pub struct Player {
    shared: Arc<Shared>,
}

/// The progress of a [`Player`]; stays valid after the transport was opened.
#[derive(Debug, Clone)]
pub struct Progress {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared(Mutex<State>);

#[derive(Debug)]
struct State {
    replay: Replay,
    mismatch: Option<Mismatch>,
    exit: Option<EngineExit>,
    stderr: VecDeque<String>,
    reader: Option<Waker>,
}

/// Number of lines of stderr that are kept.
const STDERR_LINES: usize = 200;

impl Player {
    pub(crate) fn new(replay: Replay) -> Self {
        let state = State {
            replay,
            mismatch: None,
            exit: None,
            stderr: VecDeque::new(),
            reader: None,
        };
        Self {
            shared: Arc::new(Shared(Mutex::new(state))),
        }
    }

    /// A handle to ask, at the end of a test, whether everything was played.
    pub fn progress(&self) -> Progress {
        Progress {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl Progress {
    /// Returns `true` if the engine wrote its last line.
    pub fn is_finished(&self) -> bool {
        self.shared.state().replay.is_finished()
    }

    /// Returns the place where the host departed from the recording, if it did.
    pub fn mismatch(&self) -> Option<Mismatch> {
        self.shared.state().mismatch.clone()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands something of the host to the replay and wakes the reader.
    fn feed(&self, feed: impl FnOnce(&mut Replay) -> Result<(), Mismatch>) -> io::Result<()> {
        let mut state = self.state();
        if state.exit.is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let fed = match &state.mismatch {
            Some(earlier) => Err(earlier.clone()),
            None => feed(&mut state.replay),
        };
        if let Err(mismatch) = &fed {
            state.mismatch = Some(mismatch.clone());
        }
        state.wake();
        fed.map_err(io::Error::other)
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    fn poll_line(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Inbound>>> {
        loop {
            if let Some(mismatch) = &self.mismatch {
                return Poll::Ready(Some(Err(io::Error::other(mismatch.clone()))));
            }
            if self.exit.is_some() {
                return Poll::Ready(None);
            }
            match self.replay.advance() {
                Next::Emit(line) => {
                    let line = Bytes::from(format!("{line}\n"));
                    return Poll::Ready(Some(Ok(Inbound::Lines(line))));
                }
                Next::Stderr(text) => self.keep_stderr(text),
                Next::Await => {
                    self.reader = Some(cx.waker().clone());
                    return Poll::Pending;
                }
                Next::End(code) => self.exit = Some(exit(code)),
            }
        }
    }

    fn keep_stderr(&mut self, text: String) {
        if self.stderr.len() == STDERR_LINES {
            self.stderr.pop_front();
        }
        self.stderr.push_back(text);
    }

    fn end(&mut self) -> EngineExit {
        while self.exit.is_none() && self.replay.is_finished() {
            match self.replay.advance() {
                Next::Stderr(text) => self.keep_stderr(text),
                Next::End(code) => self.exit = Some(exit(code)),
                Next::Emit(_) | Next::Await => break,
            }
        }
        let exit = self.exit.get_or_insert(EngineExit::Closed).clone();
        self.wake();
        exit
    }
}

fn exit(code: Option<i32>) -> EngineExit {
    match code {
        Some(code) if code < 0 => EngineExit::Signal(-code),
        Some(code) => EngineExit::Code(code),
        None => EngineExit::Closed,
    }
}

impl Transport for Player {
    fn open(self: Box<Self>) -> BoxFuture<'static, Result<Link, falconer::Error>> {
        let shared = self.shared;
        Box::pin(async move {
            Ok(Link {
                source: Box::new(Source(Arc::clone(&shared))),
                sink: Box::new(Sink(Arc::clone(&shared))),
                engine: Box::new(Life(shared)),
            })
        })
    }
}

struct Source(Arc<Shared>);

impl LineSource for Source {
    fn poll_lines(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Inbound>>> {
        self.0.state().poll_line(cx)
    }
}

struct Sink(Arc<Shared>);

impl LineSink for Sink {
    fn poll_send(&mut self, _: &mut Context<'_>, line: &mut Bytes) -> Poll<io::Result<()>> {
        let line = line.split_off(0);
        Poll::Ready(self.0.feed(|replay| replay.accept(&line)))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.0.feed(Replay::end_input) {
            // An engine that has ended needs no end of input.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Poll::Ready(Ok(())),
            closed => Poll::Ready(closed),
        }
    }
}

struct Life(Arc<Shared>);

impl Engine for Life {
    fn pid(&self) -> Option<u32> {
        None
    }

    fn stderr_tail(&self) -> Vec<String> {
        self.0.state().stderr.iter().cloned().collect()
    }

    fn end(&self, _: Ending) -> BoxFuture<'_, EngineExit> {
        Box::pin(async { self.0.state().end() })
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.0.state().end();
    }
}
