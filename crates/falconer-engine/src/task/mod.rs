//! What runs beside the conversation: shells now, agents later.
//!
//! Every shell has a driver, a task that owns its process and its output file. The registry
//! knows the shells, and tells the session what happens to them through a bounded queue.

mod capture;
mod driver;
mod event;
mod id;
mod last_words;
mod output_file;
mod registry;
mod shell;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use falconer_protocol::{RunId, TaskId, ToolUseId};
use tokio::sync::mpsc;

pub(crate) use capture::Shown;
pub(crate) use event::TaskEvent;
pub(crate) use output_file::private_directory;
pub(crate) use shell::{Cause, End, Foreground, Launch, Lifetime, Phase, Shell, StopBy, Why};

use registry::Registry;

/// The tasks of a session. When it is dropped, everything ends.
#[derive(Debug)]
pub(crate) struct Tasks {
    registry: Arc<Registry>,
}

/// How many tasks, and how much of them is kept.
#[derive(Debug, Clone)]
pub(crate) struct TaskLimits {
    /// Shells that run at the same time, in front and in the background.
    pub(crate) running: usize,
    /// Tasks that have ended and whose output can still be asked for.
    pub(crate) remembered: usize,
    /// Bytes in an output file; what comes after is dropped, and the file says so.
    pub(crate) output_file: u64,
    /// Age at which a command in front is announced to the host.
    pub(crate) announce_after: Duration,
    /// Time between asking a process to end and killing its tree.
    pub(crate) grace: Duration,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            running: 64,
            remembered: 32,
            output_file: 1 << 30,
            announce_after: Duration::from_secs(3),
            grace: Duration::from_millis(1500),
        }
    }
}

/// What kind of thing runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskKind {
    Shell,
}

impl TaskKind {
    pub(crate) fn wire_name(self) -> &'static str {
        match self {
            Self::Shell => "local_bash",
        }
    }
}

/// What there is to know about a task that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskInfo {
    pub(crate) id: TaskId,
    pub(crate) run: RunId,
    pub(crate) kind: TaskKind,
    pub(crate) tool_use: ToolUseId,
    pub(crate) description: String,
    pub(crate) is_background: bool,
}

/// The end of what a task has written so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskOutput {
    pub(crate) output: String,
    pub(crate) total_bytes: u64,
    pub(crate) is_truncated: bool,
}

/// How much of an output [`Tasks::output`] gives.
const OUTPUT_TAIL: usize = 8 * 1024;

/// Why a task did not start, or was not moved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    #[error("{0} commands are running already, stop one of them first")]
    TooMany(usize),
    #[error("failed to create the output file in {}: {source}", directory.display())]
    OutputFile {
        directory: PathBuf,
        source: std::io::Error,
    },
    #[error(transparent)]
    Start(#[from] falconer_process::SpawnError),
    #[error("failed to read from the command: {0}")]
    Pipe(std::io::Error),
    #[error("the session is ending")]
    Closing,
    #[error("the command has ended already")]
    Ended,
}

/// There is no task of that name, or it has ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no running task has the ID {}", .0.as_str())]
pub(crate) struct NoSuchTask(pub(crate) TaskId);

impl Default for Tasks {
    fn default() -> Self {
        Self::new(TaskLimits::default())
    }
}

impl Tasks {
    pub(crate) fn new(limits: TaskLimits) -> Self {
        Self {
            registry: Arc::new(Registry::new(limits)),
        }
    }

    /// Where the events go from now on. A queue that stays full loses events after a while.
    pub(crate) fn subscribe(&self) -> mpsc::Receiver<TaskEvent> {
        self.registry.subscribe()
    }

    /// Starts a shell that somebody waits for. Dropping what is returned stops it, unless it
    /// was moved to the background.
    pub(crate) async fn start_in_front(&self, launch: Launch) -> Result<Foreground, TaskError> {
        let lifetime = None;
        let shell = driver::start(&self.registry, launch, lifetime).await?;
        Ok(Foreground::new(shell))
    }

    /// Starts a shell that nobody waits for; it is stopped when its time is up.
    pub(crate) async fn start_shell(
        &self,
        launch: Launch,
        lifetime: Lifetime,
    ) -> Result<Arc<Shell>, TaskError> {
        driver::start(&self.registry, launch, Some(lifetime)).await
    }

    /// A shell that runs, or ended not long ago in the background.
    pub(crate) fn get(&self, id: &TaskId) -> Option<Arc<Shell>> {
        self.registry.find(|shell| &shell.info().id == id)
    }

    /// What runs in the background, oldest first.
    pub(crate) fn list(&self) -> Vec<TaskInfo> {
        self.registry.background()
    }

    /// Stops a task and waits until nothing of it is left.
    pub(crate) async fn stop(&self, id: &TaskId, by: StopBy) -> Result<Arc<Shell>, NoSuchTask> {
        let shell = self.get(id).filter(|shell| !shell.has_ended());
        let shell = shell.ok_or_else(|| NoSuchTask(id.clone()))?;
        shell.stop(by);
        shell.ended().await;
        Ok(shell)
    }

    /// Stops what runs in the background, as an interrupt does.
    pub(crate) async fn stop_all(&self, by: StopBy) {
        let running = self.registry.running();
        for shell in running.iter().filter(|shell| shell.is_background()) {
            shell.stop(by);
        }
        for shell in running.iter().filter(|shell| shell.is_background()) {
            shell.ended().await;
        }
    }

    /// Moves commands in front to the background: that of one call, or all. Commands that were
    /// not announced yet stay. Gives how many were moved.
    pub(crate) async fn move_to_background(&self, tool_use: Option<&ToolUseId>) -> usize {
        let mut moved = 0;
        for shell in self.registry.running() {
            let is_meant = tool_use.is_none_or(|id| shell.info().tool_use == *id);
            if is_meant && shell.is_announced() && !shell.is_background() {
                // One that ends at this moment needs no moving.
                let result = shell
                    .move_to_background(Why::ByUser, Lifetime::AFTER_USER)
                    .await;
                moved += usize::from(result.is_ok());
            }
        }
        moved
    }

    /// The end of a task's output, while it runs and for some time after.
    pub(crate) fn output(&self, id: &TaskId) -> Option<TaskOutput> {
        let (bytes, total_bytes) = self.get(id)?.last_output(OUTPUT_TAIL);
        Some(TaskOutput {
            is_truncated: total_bytes > bytes.len() as u64,
            output: String::from_utf8_lossy(&bytes).into_owned(),
            total_bytes,
        })
    }

    /// Ends everything and waits until nothing is left.
    pub(crate) async fn close(&self) {
        self.registry.close().await;
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.registry.closing.cancel();
    }
}
