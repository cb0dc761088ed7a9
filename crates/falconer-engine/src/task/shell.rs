//! A shell that was started, as those see it who wait for it, move it or stop it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use falconer_process::{ExitStatus, Spec};
use falconer_protocol::ToolUseId;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::capture::{Capture, Shown};
use super::registry::lock;
use super::{TaskError, TaskInfo};

/// What to start.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The process. Its standard output is the command's whole output; what it writes to its
    /// standard error is taken for the directory it ended in.
    pub(crate) spec: Spec,
    pub(crate) command: String,
    pub(crate) description: String,
    pub(crate) tool_use: ToolUseId,
    /// Where the output file goes.
    pub(crate) directory: PathBuf,
    /// Characters of output that are shown.
    pub(crate) shown: usize,
}

/// How long a shell may stay in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lifetime(pub(crate) Duration);

impl Lifetime {
    pub(crate) const MAX: Self = Self(Duration::from_secs(2 * 3600));
    pub(crate) const DEFAULT: Self = Self(Duration::from_secs(30 * 60));
    pub(crate) const AFTER_USER: Self = Self(Duration::from_secs(30 * 60));
    pub(crate) const AFTER_TIMEOUT: Self = Self(Duration::from_secs(10 * 60));
}

/// Why a shell is in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The model asked for it.
    Asked,
    ByUser,
    TimedOut {
        after: Duration,
    },
}

/// Who stopped a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopBy {
    /// It knows, so it is not told again.
    Model,
    Host,
    Interrupt,
}

/// Where a shell is in its life.
#[derive(Debug, Clone)]
pub(crate) enum Phase {
    Foreground,
    Background { why: Why, file: PathBuf },
    Ended(Arc<End>),
}

/// How a shell ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) status: ExitStatus,
    pub(crate) cause: Cause,
    /// The directory the command was in when it ended, if it told.
    pub(crate) cwd: Option<PathBuf>,
    /// Where all of its output is.
    pub(crate) file: Option<PathBuf>,
    /// Why the file is missing or incomplete.
    pub(crate) file_problem: Option<String>,
    pub(crate) output_bytes: u64,
    /// Processes that could not be killed. Normally none.
    pub(crate) leftovers: Vec<u32>,
}

/// What made a shell end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Itself,
    Stopped(StopBy),
    /// It was in the background for too long.
    TimeLimit(Duration),
    SessionEnd,
}

/// A request to a driver.
#[derive(Debug)]
pub(super) struct Move {
    pub(super) why: Why,
    pub(super) lifetime: Lifetime,
    pub(super) reply: oneshot::Sender<Result<PathBuf, TaskError>>,
}

/// A shell of this session.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(super) fixed: TaskInfo,
    pub(super) command: String,
    pub(super) is_background: AtomicBool,
    pub(super) is_announced: AtomicBool,
    pub(super) phase: watch::Sender<Phase>,
    pub(super) moves: mpsc::Sender<Move>,
    pub(super) stopping: CancellationToken,
    pub(super) stopped_by: OnceLock<StopBy>,
    pub(super) capture: Mutex<Capture>,
}

impl Shell {
    pub(crate) fn info(&self) -> TaskInfo {
        TaskInfo {
            is_background: self.is_background(),
            ..self.fixed.clone()
        }
    }

    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    pub(crate) fn is_background(&self) -> bool {
        self.is_background.load(Ordering::Acquire)
    }

    pub(crate) fn is_announced(&self) -> bool {
        self.is_announced.load(Ordering::Acquire)
    }

    pub(crate) fn has_ended(&self) -> bool {
        matches!(*self.phase.borrow(), Phase::Ended(_))
    }

    /// Follows the shell through its life.
    pub(crate) fn phases(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// The output so far.
    pub(crate) fn shown(&self) -> Shown {
        lock(&self.capture).shown()
    }

    /// The output so far, with at most `limit` characters.
    pub(crate) fn show(&self, limit: usize) -> Shown {
        lock(&self.capture).show(limit)
    }

    pub(super) fn last_output(&self, count: usize) -> (Vec<u8>, u64) {
        let capture = lock(&self.capture);
        (capture.last(count), capture.total())
    }

    /// Asks it to end; it is killed if it does not.
    pub(crate) fn stop(&self, by: StopBy) {
        let _ = self.stopped_by.set(by);
        self.stopping.cancel();
    }

    /// Waits until nothing of it is left.
    pub(crate) async fn ended(&self) -> Arc<End> {
        let mut phases = self.phases();
        loop {
            if let Phase::Ended(end) = &*phases.borrow_and_update() {
                return Arc::clone(end);
            }
            // Cannot fail: `self` holds the sender.
            let _ = phases.changed().await;
        }
    }

    /// Lets it go on without anybody waiting, and gives the file its output is written to.
    pub(crate) async fn move_to_background(
        &self,
        why: Why,
        lifetime: Lifetime,
    ) -> Result<PathBuf, TaskError> {
        let (reply, answer) = oneshot::channel();
        let request = Move {
            why,
            lifetime,
            reply,
        };
        let sent = self.moves.send(request).await;
        sent.map_err(|_| TaskError::Ended)?;
        answer.await.unwrap_or(Err(TaskError::Ended))
    }
}

/// A shell that somebody waits for. Nobody waits any more when it is dropped, so then it stops.
#[derive(Debug)]
pub(crate) struct Foreground {
    pub(crate) shell: Arc<Shell>,
}

impl Foreground {
    pub(super) fn new(shell: Arc<Shell>) -> Self {
        Self { shell }
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        if !self.shell.is_background() && !self.shell.has_ended() {
            self.shell.stop(StopBy::Interrupt);
        }
    }
}
