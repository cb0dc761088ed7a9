//! A transport inside the process: two bounded queues of lines.
//!
//! The host end is a [`Transport`]; the engine end is for whoever plays the engine.

use std::io;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::PollSender;

use super::{Ending, Engine, EngineExit, Inbound, LineSink, LineSource, Link, Transport};
use crate::error::Error;

/// Number of lines that may wait in each direction. A full queue makes the sender wait.
const QUEUE: usize = 64;

/// Makes a connected pair: a transport for the host and the end an engine holds.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let (transport, mut engine) = falconer::channel();
/// tokio::spawn(async move {
///     while let Some(line) = engine.recv().await {
///         // read `line`, answer with `engine.send(..)`
///         # let _ = line;
///     }
/// });
/// # drop(transport);
/// # }
/// ```
pub fn channel() -> (impl Transport, EngineEnd) {
    let (to_host, from_engine) = mpsc::channel(QUEUE);
    let (to_engine, from_host) = mpsc::channel(QUEUE);
    let (ending, ended) = watch::channel(false);
    let host = Host {
        from_engine,
        to_engine,
        ending,
    };
    let engine = EngineEnd {
        to_host,
        from_host,
        ended,
    };
    (host, engine)
}

struct Host {
    from_engine: mpsc::Receiver<Bytes>,
    to_engine: mpsc::Sender<Bytes>,
    ending: watch::Sender<bool>,
}

impl Transport for Host {
    fn open(self: Box<Self>) -> BoxFuture<'static, Result<Link, Error>> {
        Box::pin(async move {
            let life = Box::new(Life(self.ending));
            Ok(Link::over_queues(self.from_engine, self.to_engine, life))
        })
    }
}

/// The end of a [`channel`] that plays the engine.
///
/// Dropping it is the end of the engine's output.
#[derive(Debug)]
pub struct EngineEnd {
    to_host: mpsc::Sender<Bytes>,
    from_host: mpsc::Receiver<Bytes>,
    ended: watch::Receiver<bool>,
}

impl EngineEnd {
    /// The next line from the host, newline included; `None` at the end of input or when the
    /// host has ended the engine.
    pub async fn recv(&mut self) -> Option<Bytes> {
        tokio::select! {
            biased;
            _ = self.ended.wait_for(|ended| *ended) => None,
            line = self.from_host.recv() => line,
        }
    }

    /// Sends whole lines to the host; waits while its queue is full.
    ///
    /// # Errors
    /// `BrokenPipe` when the host is gone.
    pub async fn send(&self, lines: impl Into<Bytes>) -> io::Result<()> {
        self.to_host
            .send(lines.into())
            .await
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Link {
    /// A link over two queues of lines, for an engine inside the process.
    ///
    /// The end of `output` is the end of the engine's output; `input` is dropped to end its
    /// input.
    pub fn over_queues(
        output: mpsc::Receiver<Bytes>,
        input: mpsc::Sender<Bytes>,
        engine: Box<dyn Engine>,
    ) -> Self {
        Self {
            source: Box::new(Source(output)),
            sink: Box::new(Sink(PollSender::new(input))),
            engine,
        }
    }
}

struct Source(mpsc::Receiver<Bytes>);

impl LineSource for Source {
    fn poll_lines(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Inbound>>> {
        self.0
            .poll_recv(cx)
            .map(|lines| lines.map(|lines| Ok(Inbound::Lines(lines))))
    }
}

struct Sink(PollSender<Bytes>);

impl LineSink for Sink {
    fn poll_send(&mut self, cx: &mut Context<'_>, line: &mut Bytes) -> Poll<io::Result<()>> {
        let closed = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        std::task::ready!(self.0.poll_reserve(cx)).map_err(closed)?;
        Poll::Ready(self.0.send_item(line.split_off(0)).map_err(closed))
    }

    fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.close();
        Poll::Ready(Ok(()))
    }
}

struct Life(watch::Sender<bool>);

impl Engine for Life {
    fn pid(&self) -> Option<u32> {
        None
    }

    fn stderr_tail(&self) -> Vec<String> {
        Vec::new()
    }

    fn end(&self, ending: Ending) -> BoxFuture<'_, EngineExit> {
        Box::pin(async move {
            if let Ending::AfterInput { input, .. } = ending {
                // The engine end is dropped once it has seen the end of input.
                let _ = tokio::time::timeout(input, self.0.closed()).await;
            }
            self.0.send_replace(true);
            EngineExit::Closed
        })
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}
