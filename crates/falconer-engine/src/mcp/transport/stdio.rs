//! Servers that are children: JSON lines on their pipes, complaints kept in a small ring.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use falconer_process::{ExitStatus, Handle, Ladder, Output, Spec};
use falconer_protocol::mcp::McpStdioConfig;
use falconer_secret::{Variables, for_children};
use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

use super::LONGEST_MESSAGE;
use crate::mcp::Wiring;

/// How much of a server's complaints is kept.
const COMPLAINTS: usize = 8 * 1024;

/// How a child that is no longer wanted ends: it sees the end of its input first.
const LADDER: Ladder = Ladder {
    exit: Duration::from_millis(500),
    term: Duration::from_millis(1000),
};

/// The transport to a child.
pub(in crate::mcp) type Pipes = AsyncRwTransport<RoleClient, Lines<Output>, pipe::Sender>;

/// A child that is a server. Dropping it ends it.
#[derive(Debug)]
pub(in crate::mcp) struct Child {
    handle: Handle,
    complaints: Complaints,
    drain: JoinHandle<()>,
}

/// The end of what a child wrote to standard error.
type Complaints = Arc<Mutex<VecDeque<u8>>>;

/// Starts a server.
pub(in crate::mcp) async fn start(
    config: &McpStdioConfig,
    wiring: &Wiring,
) -> Result<(Child, Pipes), String> {
    let mut spec = Spec::new(&config.command);
    spec.args = config.args.iter().flatten().map(OsString::from).collect();
    // What the configuration gives it by name comes last, and so counts.
    let own: Variables = (config.env.iter().flatten())
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    spec.env = for_children(&wiring.environment.snapshot());
    spec.env.retain(|(name, _)| !own.contains_key(name));
    spec.env.extend(own);
    spec.cwd = Some(wiring.cwd.clone());
    spec.drop_grace = LADDER.term;
    let process = falconer_process::spawn(spec).await;
    let process = process.map_err(|error| error.to_string())?;
    let pipes = || -> io::Result<_> {
        let stdin = pipe::Sender::from_owned_fd(process.stdin)?;
        let stdout = process.handle.output(process.stdout)?;
        Ok((stdin, stdout, process.handle.output(process.stderr)?))
    };
    let (stdin, stdout, stderr) =
        pipes().map_err(|error| format!("cannot use its pipes: {error}"))?;
    let complaints = Complaints::default();
    let drain = tokio::spawn(drain(stderr, Arc::clone(&complaints)));
    let child = Child {
        handle: process.handle,
        complaints,
        drain,
    };
    let pipes = AsyncRwTransport::new_client(Lines::new(stdout), stdin);
    Ok((child, pipes.with_max_line_length(usize::MAX)))
}

impl Child {
    /// Ends it and waits until nothing of it is left. Returns its last words.
    pub(in crate::mcp) async fn end(self) -> String {
        self.handle.end(LADDER);
        let exit = self.handle.exited().await;
        let status = match exit.status {
            ExitStatus::Code(code) => format!("it exited with code {code}"),
            ExitStatus::Signal(signal) => format!("it was ended by signal {signal}"),
            _ => "it ended".to_owned(),
        };
        // Ends with the process; a panic in it is no reason to say nothing.
        let _ = self.drain.await;
        let words = last_words(&self.complaints);
        match words.trim() {
            "" => status,
            words => format!("{status}: {words}"),
        }
    }
}

async fn drain(mut stderr: Output, complaints: Complaints) {
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
        let mut ring = complaints.lock().unwrap_or_else(PoisonError::into_inner);
        ring.extend(&chunk[..count]);
        let excess = ring.len().saturating_sub(COMPLAINTS);
        ring.drain(..excess);
    }
}

fn last_words(complaints: &Complaints) -> String {
    let ring = complaints.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes: Vec<u8> = ring.iter().copied().collect();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.trim().lines().rev().take(5).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}

/// A stream that fails when a line never ends.
#[derive(Debug)]
pub(in crate::mcp) struct Lines<R> {
    inner: R,
    since_newline: usize,
}

impl<R> Lines<R> {
    fn new(inner: R) -> Self {
        Self {
            inner,
            since_newline: 0,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        let read = &buffer.filled()[before..];
        match memchr::memrchr(b'\n', read) {
            Some(at) => self.since_newline = read.len() - at - 1,
            None => self.since_newline += read.len(),
        }
        if self.since_newline > LONGEST_MESSAGE {
            let why = format!("a message is longer than {LONGEST_MESSAGE} bytes");
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
        }
        polled
    }
}
