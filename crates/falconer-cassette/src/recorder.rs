//! A transport that writes down what passes through another one.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use falconer::{Ending, Engine, EngineExit, Inbound, LineSink, LineSource, Link, Transport};
use falconer_secret::Redactor;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::redact::redact;
use crate::{Direction, END_OF_INPUT, Entry};

/// Records what passes through a transport as a cassette.
///
/// Keys, tokens, header and environment values are replaced before anything is written. The
/// writer should be fast: it is called while lines are passed on. If it fails, reading from
/// the engine fails with its error, so that no half recording passes for a whole one. How the
/// engine ended, and the end of its stderr, are written when the host ends it.
///
/// ```
/// use falconer_cassette::record;
///
/// # fn main() -> std::io::Result<()> {
/// let (transport, engine) = falconer::channel(); // or a child process
/// let file = tempfile::tempfile()?; // or std::fs::File::create("session.jsonl")
/// let transport = record(transport, file);
/// # drop((transport, engine));
/// # Ok(())
/// # }
/// ```
pub fn record<T: Transport>(transport: T, writer: impl Write + Send + 'static) -> Recorder<T> {
    Recorder {
        transport,
        tape: Tape::new(Box::new(writer)),
    }
}

impl<T> Recorder<T> {
    /// Takes the secrets that this one knows out, besides what looks like one.
    #[must_use]
    pub fn redactor(self, redactor: Redactor) -> Self {
        self.tape.reel().redactor = redactor;
        self
    }
}

/// A transport that is recorded; see [`record`].
#[derive(Debug)]
pub struct Recorder<T> {
    transport: T,
    tape: Tape,
}

impl<T: Transport> Transport for Recorder<T> {
    fn open(self: Box<Self>) -> BoxFuture<'static, Result<Link, falconer::Error>> {
        let Self { transport, tape } = *self;
        Box::pin(async move {
            tape.add(Direction::Meta, json!({"recorder": "falconer-testkit"}));
            let link = Box::new(transport).open().await?;
            Ok(Link {
                source: Box::new(Source {
                    inner: link.source,
                    tape: tape.clone(),
                }),
                sink: Box::new(Sink {
                    inner: link.sink,
                    tape: tape.clone(),
                    sending: false,
                    closing: false,
                }),
                engine: Box::new(Life {
                    inner: link.engine,
                    tape,
                }),
            })
        })
    }
}

/// The destination of the entries.
#[derive(Debug, Clone)]
struct Tape(Arc<Mutex<Reel>>);

struct Reel {
    writer: Box<dyn Write + Send>,
    redactor: Redactor,
    start: Instant,
    failure: Option<io::Error>,
    ended: bool,
}

impl std::fmt::Debug for Reel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reel")
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

impl Tape {
    fn new(writer: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Mutex::new(Reel {
            writer,
            redactor: Redactor::default(),
            start: Instant::now(),
            failure: None,
            ended: false,
        })))
    }

    fn reel(&self) -> MutexGuard<'_, Reel> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, dir: Direction, line: Value) {
        self.reel().add(dir, line);
    }

    fn lines(&self, dir: Direction, lines: &[u8]) {
        let mut reel = self.reel();
        let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
        for line in lines.split(|byte| *byte == b'\n') {
            reel.add(dir, read(line));
        }
    }

    /// The error of the writer, once.
    fn failure(&self) -> Option<io::Error> {
        self.reel().failure.take()
    }

    fn exit(&self, exit: &EngineExit, stderr: Vec<String>) {
        let mut reel = self.reel();
        if std::mem::replace(&mut reel.ended, true) {
            return;
        }
        for text in stderr {
            reel.add(Direction::Err, Value::String(text));
        }
        let code = match exit {
            EngineExit::Code(code) => Some(*code),
            EngineExit::Signal(signal) => Some(-signal),
            _ => None,
        };
        reel.add(Direction::Exit, json!({"code": code}));
    }
}

impl Reel {
    fn add(&mut self, dir: Direction, mut line: Value) {
        redact(&self.redactor, &mut line);
        let t_ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Err(error) = self.write(&Entry { t_ms, dir, line }) {
            self.failure.get_or_insert(error);
        }
    }

    fn write(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.writer.write_all(&line)?;
        self.writer.flush()
    }
}

/// A line as JSON, or as text if it is none.
fn read(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(line).into_owned();
        Value::String(text)
    })
}

struct Source {
    inner: Box<dyn LineSource>,
    tape: Tape,
}

impl LineSource for Source {
    fn poll_lines(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Inbound>>> {
        let inbound = ready!(self.inner.poll_lines(cx));
        match &inbound {
            Some(Ok(Inbound::Lines(lines))) => self.tape.lines(Direction::Out, lines),
            Some(Ok(other)) => {
                let note = json!({"not_recorded": format!("{other:?}")});
                self.tape.add(Direction::Meta, note);
            }
            Some(Err(_)) | None => {}
        }
        match self.tape.failure() {
            Some(error) => Poll::Ready(Some(Err(error))),
            None => Poll::Ready(inbound),
        }
    }
}

struct Sink {
    inner: Box<dyn LineSink>,
    tape: Tape,
    /// `true` if a line is under way that was written down already.
    sending: bool,
    closing: bool,
}

impl LineSink for Sink {
    fn poll_send(&mut self, cx: &mut Context<'_>, line: &mut Bytes) -> Poll<io::Result<()>> {
        // Written down before it is sent, so that an answer can never precede it.
        if !self.sending {
            self.sending = true;
            self.tape.lines(Direction::In, line);
        }
        let sent = ready!(self.inner.poll_send(cx, line));
        self.sending = false;
        Poll::Ready(sent)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.closing {
            self.closing = true;
            self.tape.add(Direction::In, END_OF_INPUT.into());
        }
        self.inner.poll_close(cx)
    }
}

struct Life {
    inner: Box<dyn Engine>,
    tape: Tape,
}

impl Engine for Life {
    fn pid(&self) -> Option<u32> {
        self.inner.pid()
    }

    fn stderr_tail(&self) -> Vec<String> {
        self.inner.stderr_tail()
    }

    fn end(&self, ending: Ending) -> BoxFuture<'_, EngineExit> {
        Box::pin(async move {
            let exit = self.inner.end(ending).await;
            self.tape.exit(&exit, self.inner.stderr_tail());
            exit
        })
    }
}
