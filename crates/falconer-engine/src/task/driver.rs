//! Owns one shell: reads its output, keeps its file, ends it, and tells what happened.

use std::ffi::OsString;
use std::future::pending;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use falconer_process::{Exit, Handle, Ladder, Output};
use tokio::io::AsyncReadExt;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::capture::Capture;
use super::event;
use super::id;
use super::last_words;
use super::output_file::{self, OutputFile};
use super::registry::{Registry, lock};
use super::shell::{Cause, End, Launch, Lifetime, Move, Phase, Shell, StopBy, Why};
use super::{TaskError, TaskInfo, TaskKind};

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// Bytes of the message about the last directory; the longest path has 4096.
const REPORT: usize = 8 * 1024;

struct Driver {
    registry: Arc<Registry>,
    shell: Arc<Shell>,
    handle: Handle,
    output: Option<Output>,
    report: Option<Output>,
    reported: Vec<u8>,
    directory: PathBuf,
    file: Option<OutputFile>,
    file_problem: Option<String>,
    moves: mpsc::Receiver<Move>,
    announce_at: Instant,
    limit: Option<(Instant, Duration)>,
    cause: Cause,
    _slot: OwnedSemaphorePermit,
}

/// Starts a shell, in the background if it has a lifetime.
pub(super) async fn start(
    registry: &Arc<Registry>,
    launch: Launch,
    lifetime: Option<Lifetime>,
) -> Result<Arc<Shell>, TaskError> {
    if registry.closing.is_cancelled() {
        return Err(TaskError::Closing);
    }
    let slot = Arc::clone(&registry.slots).try_acquire_owned();
    let slot = slot.map_err(|_| TaskError::TooMany(registry.limits.running))?;
    let fixed = TaskInfo {
        id: id::task_id(TaskKind::Shell),
        run: id::run_id(),
        kind: TaskKind::Shell,
        tool_use: launch.tool_use,
        description: launch.description,
        is_background: lifetime.is_some(),
    };
    let directory = launch.directory;
    let file = match lifetime {
        Some(_) => Some(create_file(registry, &directory, &fixed).await?),
        None => None,
    };
    let process = match spawn(launch.spec).await {
        Ok(process) => process,
        Err(error) => {
            if let Some(file) = file {
                let _ = tokio::fs::remove_file(file.path()).await;
            }
            return Err(error);
        }
    };
    let phase = match &file {
        Some(file) => Phase::Background {
            why: Why::Asked,
            file: file.path().to_owned(),
        },
        None => Phase::Foreground,
    };
    let (orders, moves) = mpsc::channel(4);
    let shell = Arc::new(Shell {
        is_background: AtomicBool::new(lifetime.is_some()),
        is_announced: AtomicBool::new(false),
        fixed,
        command: launch.command,
        phase: watch::Sender::new(phase),
        moves: orders,
        stopping: CancellationToken::new(),
        stopped_by: OnceLock::new(),
        capture: Mutex::new(Capture::new(launch.shown)),
    });
    registry.add(Arc::clone(&shell));
    let driver = Driver {
        registry: Arc::clone(registry),
        shell: Arc::clone(&shell),
        handle: process.handle,
        output: Some(process.output),
        report: Some(process.report),
        reported: Vec::new(),
        directory,
        file,
        file_problem: None,
        moves,
        announce_at: Instant::now() + registry.limits.announce_after,
        limit: lifetime.map(|Lifetime(time)| (Instant::now() + time, time)),
        cause: Cause::Itself,
        _slot: slot,
    };
    if lifetime.is_some() {
        driver.tell_background().await;
    }
    registry.drivers.spawn(driver.run());
    Ok(shell)
}

struct Process {
    handle: Handle,
    output: Output,
    report: Output,
}

async fn spawn(spec: falconer_process::Spec) -> Result<Process, TaskError> {
    let process = falconer_process::spawn(spec).await?;
    Ok(Process {
        output: process
            .handle
            .output(process.stdout)
            .map_err(TaskError::Pipe)?,
        report: process
            .handle
            .output(process.stderr)
            .map_err(TaskError::Pipe)?,
        handle: process.handle,
    })
}

async fn create_file(
    registry: &Registry,
    directory: &std::path::Path,
    info: &TaskInfo,
) -> Result<OutputFile, TaskError> {
    let failed = |source| TaskError::OutputFile {
        directory: directory.to_owned(),
        source,
    };
    output_file::private_directory(directory).map_err(failed)?;
    let path = directory.join(format!("{}.output", info.id.as_str()));
    let file = OutputFile::create(path, registry.limits.output_file).await;
    file.map_err(failed)
}

impl Driver {
    async fn run(mut self) {
        let mut buffer = Vec::with_capacity(CHUNK);
        let mut report = Vec::with_capacity(256);
        let mut exited = pin!(self.handle.exited());
        let exit = loop {
            let is_silent = self.shell.is_announced() || self.shell.is_background();
            let limit = self.limit.map(|(at, _)| at);
            tokio::select! {
                exit = &mut exited => break exit,
                more = read(&mut self.output, &mut buffer) => self.took_output(more, &buffer).await,
                more = read(&mut self.report, &mut report) => self.took_report(more, &report),
                Some(request) = self.moves.recv() => self.obey(request).await,
                () = tokio::time::sleep_until(self.announce_at), if !is_silent => self.announce().await,
                () = reached(limit), if self.cause == Cause::Itself => self.time_is_up(),
                () = self.shell.stopping.cancelled(), if self.cause == Cause::Itself => {
                    let by = self.shell.stopped_by.get().copied().unwrap_or(StopBy::Interrupt);
                    self.end(Cause::Stopped(by));
                }
                () = self.registry.closing.cancelled(), if self.cause != Cause::SessionEnd => {
                    self.end(Cause::SessionEnd);
                }
            }
        };
        self.drain(&mut buffer, &mut report).await;
        self.finish(exit).await;
    }

    async fn took_output(&mut self, more: bool, bytes: &[u8]) {
        if !more {
            self.output = None;
            return;
        }
        let overflow = self.overflow(bytes.len());
        if let Some(before) = overflow {
            self.open_file(&before).await;
        }
        lock(&self.shell.capture).push(bytes);
        if let Some(file) = &mut self.file {
            file.write(bytes).await;
        }
    }

    /// What there is so far, if memory will not hold it together with what comes now.
    fn overflow(&self, coming: usize) -> Option<Vec<u8>> {
        if self.file.is_some() || self.file_problem.is_some() {
            return None;
        }
        let capture = lock(&self.shell.capture);
        (!capture.has_room(coming)).then(|| capture.whole().map(<[u8]>::to_vec))?
    }

    async fn open_file(&mut self, before: &[u8]) {
        match create_file(&self.registry, &self.directory, &self.shell.fixed).await {
            Ok(mut file) => {
                file.write(before).await;
                self.file = Some(file);
            }
            Err(error) => self.file_problem = Some(error.to_string()),
        }
    }

    fn took_report(&mut self, more: bool, bytes: &[u8]) {
        if more && self.reported.len() + bytes.len() <= REPORT {
            self.reported.extend_from_slice(bytes);
        } else if more {
            // Not the message we asked for; something else found the descriptor.
            self.reported.clear();
            self.report = None;
        } else {
            self.report = None;
        }
    }

    /// Reads what is left; the pipes end with the process.
    async fn drain(&mut self, buffer: &mut Vec<u8>, report: &mut Vec<u8>) {
        while self.output.is_some() {
            let more = read(&mut self.output, buffer).await;
            self.took_output(more, buffer).await;
        }
        while self.report.is_some() {
            let more = read(&mut self.report, report).await;
            self.took_report(more, report);
        }
    }

    fn end(&mut self, cause: Cause) {
        self.cause = cause;
        self.handle.end(Ladder {
            exit: Duration::ZERO,
            term: self.registry.limits.grace,
        });
    }

    fn time_is_up(&mut self) {
        if let Some((_, time)) = self.limit {
            self.end(Cause::TimeLimit(time));
        }
    }

    async fn announce(&mut self) {
        let _order = self.registry.telling.lock().await;
        self.registry.tell(event::started(&self.shell.info())).await;
        self.shell.is_announced.store(true, Ordering::Release);
    }

    async fn obey(&mut self, request: Move) {
        let result = self.go_to_background(request.why, request.lifetime).await;
        let _ = request.reply.send(result);
    }

    async fn go_to_background(
        &mut self,
        why: Why,
        Lifetime(time): Lifetime,
    ) -> Result<PathBuf, TaskError> {
        if let Some(file) = self.file.as_ref().filter(|_| self.shell.is_background()) {
            return Ok(file.path().to_owned());
        }
        if self.file.is_none() {
            let before = lock(&self.shell.capture)
                .whole()
                .unwrap_or_default()
                .to_vec();
            let mut file = create_file(&self.registry, &self.directory, &self.shell.fixed).await?;
            file.write(&before).await;
            self.file_problem = None;
            self.file = Some(file);
        }
        let file = self.file.as_ref().map(|file| file.path().to_owned());
        let file = file.ok_or(TaskError::Ended)?;
        self.limit = Some((Instant::now() + time, time));
        self.shell.is_background.store(true, Ordering::Release);
        self.tell_background().await;
        let phase = Phase::Background {
            why,
            file: file.clone(),
        };
        self.shell.phase.send_replace(phase);
        Ok(file)
    }

    /// The list first, then the task: as the CLI does.
    async fn tell_background(&self) {
        let _order = self.registry.telling.lock().await;
        let tasks = self.registry.background();
        self.registry.tell(event::changed(&tasks)).await;
        let info = self.shell.info();
        let event = if self.shell.is_announced() {
            event::moved_to_background(&info)
        } else {
            event::started(&info)
        };
        self.shell.is_announced.store(true, Ordering::Release);
        self.registry.tell(event).await;
    }

    async fn finish(mut self, exit: Exit) {
        self.keep_what_is_not_shown().await;
        if let Some(note) = self
            .shell
            .is_background()
            .then(|| last_words::last_line(self.cause, exit.status))
        {
            self.took_output(!note.is_empty(), note.as_bytes()).await;
        }
        // Whoever asked at the last moment is told by the closed queue.
        self.moves.close();
        let end = Arc::new(End {
            status: exit.status,
            cause: self.cause,
            cwd: directory_of(&self.reported),
            file: self.file.as_ref().map(|file| file.path().to_owned()),
            file_problem: (self.file.as_ref().and_then(OutputFile::problem))
                .or_else(|| self.file_problem.take()),
            output_bytes: lock(&self.shell.capture).total(),
            leftovers: exit.leftovers,
        });
        let order = self.registry.telling.lock().await;
        for event in last_words::of(&self.registry, &self.shell, &end) {
            self.registry.tell(event).await;
        }
        self.shell.phase.send_replace(Phase::Ended(end));
        drop(order);
        self.registry.tidy();
    }

    /// The middle that is left out of the conversation has to be somewhere.
    async fn keep_what_is_not_shown(&mut self) {
        let whole = {
            let capture = lock(&self.shell.capture);
            let is_needed = self.file.is_none() && !capture.shown().is_whole;
            capture.whole().filter(|_| is_needed).map(<[u8]>::to_vec)
        };
        if let Some(whole) = whole {
            self.open_file(&whole).await;
        }
    }
}

/// An absolute path and a newline, or something that is not a message of ours.
fn directory_of(report: &[u8]) -> Option<PathBuf> {
    let path = report.strip_suffix(b"\n")?;
    let path = PathBuf::from(OsString::from_vec(path.to_vec()));
    path.is_absolute().then_some(path)
}

async fn reached(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => pending().await,
    }
}

/// Fills the buffer anew; false at the end.
async fn read(pipe: &mut Option<Output>, buffer: &mut Vec<u8>) -> bool {
    let Some(pipe) = pipe else {
        return pending().await;
    };
    buffer.clear();
    matches!(pipe.read_buf(buffer).await, Ok(count) if count > 0)
}
