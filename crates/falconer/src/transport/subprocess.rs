//! An engine that is a child process: lines over its stdin and stdout, its stderr kept.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use falconer_process::{ExitStatus, Handle, Ladder, SpawnError, Spec, Supervised};
use futures_util::future::BoxFuture;
use tokio::io::AsyncWrite;
use tokio::net::unix::pipe;
use tokio::sync::watch;

use super::line_reader::LineReader;
use super::stderr_ring::{StderrCallback, StderrRing};
use super::{Ending, Engine, EngineExit, LineSink, Link, Transport};
use crate::error::Error;
use crate::isolation::Home;

/// Limit on the wait for the stderr callback once the process is gone.
const STDERR_GRACE: Duration = Duration::from_millis(500);

/// Limit on the wait for the deletion of a home.
const DELETION_GRACE: Duration = Duration::from_secs(5);

/// Starts an engine as a child process.
///
/// The process and everything it starts ends with the [`Link`]'s engine, however that is
/// dropped, and with this process, even if it is killed. To be opened inside a tokio runtime.
///
/// ```
/// use falconer::{Subprocess, Transport};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), falconer::Error> {
/// let mut engine = Subprocess::new("/bin/cat");
/// engine.cwd = Some("/".into());
/// let link = Box::new(engine).open().await?;
/// assert!(link.engine.pid().is_some());
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Subprocess {
    /// A path, or a bare name to be looked up in the `PATH` of [`Subprocess::env`].
    pub program: PathBuf,
    /// The arguments after the program's name.
    pub args: Vec<OsString>,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory; the caller's own if `None`.
    pub cwd: Option<PathBuf>,
    /// The longest line taken from stdout, in bytes; longer ones are skipped.
    pub line_limit: usize,
    /// Number of lines of stderr that are kept.
    pub stderr_lines: usize,
    /// Called with each line of stderr.
    pub on_stderr: Option<StderrCallback>,
    /// Time from SIGTERM to SIGKILL for an engine that is dropped.
    pub drop_grace: Duration,
    /// Deleted once the process and everything it started is gone.
    pub(crate) home: Option<Arc<Home>>,
}

impl Subprocess {
    /// A program without arguments, with an empty environment and the default limits: lines of
    /// 64 MiB, 200 lines of stderr, 2 seconds.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            line_limit: 64 * 1024 * 1024,
            stderr_lines: 200,
            on_stderr: None,
            drop_grace: Duration::from_secs(2),
            home: None,
        }
    }

    fn spec(&self) -> Spec {
        let mut spec = Spec::new(&self.program);
        spec.args.clone_from(&self.args);
        spec.env.clone_from(&self.env);
        spec.cwd.clone_from(&self.cwd);
        spec.drop_grace = self.drop_grace;
        spec
    }
}

/// The environment may hold keys, so only its names are shown.
impl fmt::Debug for Subprocess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsString> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Subprocess")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

impl Transport for Subprocess {
    fn open(self: Box<Self>) -> BoxFuture<'static, Result<Link, Error>> {
        Box::pin(async move {
            let process = falconer_process::spawn(self.spec()).await;
            let process = process.map_err(|error| launch_error(error, &self.program))?;
            connect(&self, process).map_err(|source| Error::Transport {
                doing: "connect to",
                source,
            })
        })
    }
}

fn connect(config: &Subprocess, process: Supervised) -> io::Result<Link> {
    let stdin = pipe::Sender::from_owned_fd(process.stdin)?;
    let stdout = process.handle.output(process.stdout)?;
    let stderr = process.handle.output(process.stderr)?;
    let ring = StderrRing::new(config.stderr_lines, config.on_stderr.clone());
    let (drained_tx, drained) = watch::channel(false);
    let draining = ring.clone().drain(stderr);
    // Ends with the process.
    tokio::spawn(async move {
        draining.await;
        drained_tx.send_replace(true);
    });
    let (deleted_tx, deleted) = watch::channel(config.home.is_none());
    if let Some(home) = config.home.clone() {
        let exited = process.handle.exited();
        // Ends with the process, which ends with its handle.
        tokio::spawn(async move {
            exited.await;
            let _ = tokio::task::spawn_blocking(move || drop(home)).await;
            deleted_tx.send_replace(true);
        });
    }
    Ok(Link {
        source: Box::new(LineReader::new(stdout, config.line_limit)),
        sink: Box::new(Stdin(Some(stdin))),
        engine: Box::new(Process {
            pid: process.pid,
            handle: process.handle,
            stderr: ring,
            drained,
            deleted,
        }),
    })
}

fn launch_error(error: SpawnError, program: &std::path::Path) -> Error {
    match error {
        SpawnError::WorkingDirectory { path, source } => Error::WorkingDirectory { path, source },
        source => Error::Launch {
            program: program.to_owned(),
            source,
        },
    }
}

/// The engine's stdin; `None` when it is closed.
struct Stdin(Option<pipe::Sender>);

impl LineSink for Stdin {
    fn poll_send(&mut self, cx: &mut Context<'_>, line: &mut Bytes) -> Poll<io::Result<()>> {
        let Some(pipe) = &mut self.0 else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        while line.has_remaining() {
            match ready!(Pin::new(&mut *pipe).poll_write(cx, line))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => line.advance(written),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0 = None;
        Poll::Ready(Ok(()))
    }
}

/// The life of the child process.
struct Process {
    pid: u32,
    handle: Handle,
    stderr: StderrRing,
    drained: watch::Receiver<bool>,
    /// The home of the process is gone, if it had one.
    deleted: watch::Receiver<bool>,
}

impl Engine for Process {
    fn pid(&self) -> Option<u32> {
        Some(self.pid)
    }

    fn stderr_tail(&self) -> Vec<String> {
        self.stderr.tail()
    }

    fn end(&self, ending: Ending) -> BoxFuture<'_, EngineExit> {
        // At once, not when first polled: the caller may be about to drop the future.
        self.handle.end(ladder(ending));
        Box::pin(async {
            let exit = self.handle.exited().await;
            let mut drained = self.drained.clone();
            let end_of_stderr = drained.wait_for(|drained| *drained);
            // In vain only if the callback takes its time.
            let _ = tokio::time::timeout(STDERR_GRACE, end_of_stderr).await;
            let mut deleted = self.deleted.clone();
            let gone = deleted.wait_for(|deleted| *deleted);
            let _ = tokio::time::timeout(DELETION_GRACE, gone).await;
            engine_exit(exit.status)
        })
    }
}

fn ladder(ending: Ending) -> Ladder {
    match ending {
        Ending::AfterInput { input, term } => Ladder { exit: input, term },
        Ending::Now { term } => Ladder {
            exit: Duration::ZERO,
            term,
        },
    }
}

fn engine_exit(status: ExitStatus) -> EngineExit {
    match status {
        ExitStatus::Code(code) => EngineExit::Code(code),
        ExitStatus::Signal(signal) => EngineExit::Signal(signal),
        _ => EngineExit::Closed,
    }
}
