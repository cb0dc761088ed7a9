//! The way to an engine: lines in, lines out, and a handle on its life.
//!
//! A transport knows nothing about what the lines mean. The child process
//! ([`Subprocess`]), a pair of in-process channels ([`channel`]) and a
//! recorded session of the test kit are all transports, so everything above this module is
//! the same for every engine.

mod around;
mod line_reader;
mod memory;
mod stderr_ring;
mod subprocess;

use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;

use crate::error::Error;

pub(crate) use around::Around;
pub use memory::{EngineEnd, channel};
pub use stderr_ring::StderrCallback;
pub use subprocess::Subprocess;

/// Something that can start, or attach to, one engine.
pub trait Transport: Send + 'static {
    /// Starts the engine and hands out both lanes and the handle on its life.
    ///
    /// Dropping the future must leave nothing running.
    fn open(self: Box<Self>) -> BoxFuture<'static, Result<Link, Error>>;
}

/// An open connection to one engine.
#[allow(
    missing_debug_implementations,
    reason = "trait objects without a Debug bound"
)]
pub struct Link {
    /// Engine to host.
    pub source: Box<dyn LineSource>,
    /// Host to engine.
    pub sink: Box<dyn LineSink>,
    /// Life and death of the engine.
    pub engine: Box<dyn Engine>,
}

/// The engine-to-host lane.
pub trait LineSource: Send {
    /// Yields the next complete lines, `None` once when the engine has closed its output.
    ///
    /// A final line without a newline is yielded like any other. After an `Err` or `None`
    /// the source is not polled again.
    fn poll_lines(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Inbound>>>;
}

/// An item of a [`LineSource`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Inbound {
    /// One or more whole lines, separated by `\n`; the last newline may be missing.
    ///
    /// Never the beginning or the middle of a line. Lines may be blank.
    Lines(Bytes),
    /// A line was longer than the limit; it was read to its end and thrown away.
    Skipped(SkippedLine),
}

/// The remains of a line that was longer than the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedLine {
    /// Its whole length in bytes, without the newline.
    pub length: u64,
    /// Its first bytes, at most [`SkippedLine::HEAD`], for the warning.
    pub head: Bytes,
}

impl SkippedLine {
    /// Number of bytes of a skipped line that are kept.
    pub const HEAD: usize = 200;

    /// Describes a skipped line of `length` bytes, of which `head` was kept.
    pub fn new(length: u64, mut head: Bytes) -> Self {
        head.truncate(Self::HEAD);
        Self { length, head }
    }
}

/// The host-to-engine lane.
pub trait LineSink: Send {
    /// Writes `line`, which ends in `\n`, advancing it past what was taken.
    ///
    /// `Ready(Ok)` means the line was taken whole. On `Pending` the call is repeated with the
    /// rest of the same line; no other line is offered in between. Must not block.
    fn poll_send(&mut self, cx: &mut Context<'_>, line: &mut Bytes) -> Poll<io::Result<()>>;

    /// Ends the engine's input. Sending afterwards is an error.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// The life of an engine.
///
/// Dropping it ends the engine and everything it started as [`Ending::Now`] does, without
/// waiting.
pub trait Engine: Send + Sync {
    /// The process id, if the engine is a process of its own.
    fn pid(&self) -> Option<u32>;

    /// The last lines the engine wrote to stderr, oldest first.
    fn stderr_tail(&self) -> Vec<String>;

    /// Ends the engine, if it has not ended, and waits until nothing of it is left.
    ///
    /// The caller has closed the input already. May be called again; later calls may only
    /// hurry the ending.
    fn end(&self, ending: Ending) -> BoxFuture<'_, EngineExit>;
}

/// The time an engine gets to end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Its input has ended: wait so long, then SIGTERM, then so long again, then SIGKILL.
    AfterInput {
        /// From the end of input to SIGTERM.
        input: Duration,
        /// From SIGTERM to SIGKILL.
        term: Duration,
    },
    /// SIGTERM at once, SIGKILL after this long.
    Now {
        /// From SIGTERM to SIGKILL.
        term: Duration,
    },
}

/// The end of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineExit {
    /// The process returned this code.
    Code(i32),
    /// The process was ended by this signal.
    Signal(i32),
    /// The engine is not a process, or its status could not be had.
    Closed,
}

impl std::fmt::Display for EngineExit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "killed by signal {signal}"),
            Self::Closed => f.write_str("connection closed"),
        }
    }
}
