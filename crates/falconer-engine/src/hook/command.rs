//! Hooks that are programs: JSON on standard input, an exit code, text or JSON on standard output.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use falconer_process::{ExitStatus, Handle, Ladder, Output, Spec, Supervised};
use falconer_secret::for_children;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::answer::{Ran, read_output};
use super::registry::{Command, Hook, Waiting};
use super::report::Written;
use super::{DEFAULT_TIMEOUT, Hooks, Occasion, RunIn};

/// How much of each stream is kept; the rest is read and dropped.
const OUTPUT: usize = 1024 * 1024;

/// Longest first line in which a program can say that it goes on by itself.
const FIRST_LINE: usize = 4096;

/// From SIGTERM to SIGKILL for a hook that is no longer wanted.
const GRACE: Duration = Duration::from_millis(500);

/// What is left of a program that ended.
#[derive(Debug)]
struct Finished {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: ExitStatus,
}

/// A program with its pipes.
#[derive(Debug)]
struct Program {
    stdin: pipe::Sender,
    stdout: Output,
    stderr: Output,
    handle: Handle,
}

impl Hooks {
    pub(super) async fn run_command(
        &self,
        command: &Command,
        hook: &Hook,
        occasion: &Occasion<'_>,
    ) -> Ran {
        let hook_id = self.tell_started(occasion).await;
        let (ran, written) = match self.start(command, occasion).await {
            Ok(program) => self.attend(program, hook, occasion).await,
            Err(why) => (Ran::Failed(why), Written::default()),
        };
        self.tell_ended(occasion, hook_id, written, &ran).await;
        ran
    }

    async fn start(&self, command: &Command, occasion: &Occasion<'_>) -> Result<Program, String> {
        let mut spec = match &command.args {
            Some(args) => {
                let mut spec = Spec::new(&command.command);
                spec.args = args.iter().map(OsString::from).collect();
                spec
            }
            None => {
                let mut spec = Spec::new("/bin/sh");
                spec.args = vec!["-c".into(), OsString::from(&command.command)];
                spec
            }
        };
        let project = &self.surroundings.project;
        let variables = self.surroundings.environment.snapshot();
        spec.env = for_children(&variables);
        spec.env.retain(|(name, _)| name != "CLAUDE_PROJECT_DIR");
        let project_variable = (
            "CLAUDE_PROJECT_DIR".into(),
            project.clone().into_os_string(),
        );
        spec.env.push(project_variable);
        let cwd = match self.surroundings.directory {
            RunIn::Cwd => occasion.input.cwd().map(PathBuf::from),
            RunIn::Project => None,
        };
        let cwd = cwd.filter(|cwd| cwd.is_dir());
        spec.cwd = Some(cwd.unwrap_or_else(|| project.clone()));
        spec.drop_grace = GRACE;
        let process = falconer_process::spawn(spec).await;
        let process = process.map_err(|error| error.to_string())?;
        Program::new(process).map_err(|error| format!("cannot use its pipes: {error}"))
    }

    /// Waits for the program's answer, or leaves it alone if it wants to be.
    async fn attend(
        &self,
        program: Program,
        hook: &Hook,
        occasion: &Occasion<'_>,
    ) -> (Ran, Written) {
        let limit = hook.timeout.unwrap_or(DEFAULT_TIMEOUT);
        let stop = self.closing.child_token();
        let (early, wants_to_go_on) = oneshot::channel();
        let run = program.run(occasion.line.clone(), stop.clone(), early);
        let mut running = self.detached.spawn(run);
        if hook.waiting == Waiting::Never {
            self.leave(running, stop, limit);
            return (Ran::Detached, Written::default());
        }
        // Should this future be dropped, nobody waits for the program any more.
        let guard = stop.clone().drop_guard();
        let why = tokio::select! {
            biased;
            finished = &mut running => return judge(occasion, finished.ok().flatten()),
            () = occasion.cancelled.cancelled() => Ran::Cancelled,
            Ok(limit) = wants_to_go_on => {
                guard.disarm();
                self.leave(running, stop, limit);
                return (Ran::Detached, Written::default());
            }
            () = tokio::time::sleep(limit) => Ran::TimedOut(limit),
        };
        drop(guard);
        let finished = running.await.ok().flatten();
        (why, finished.map(Written::from).unwrap_or_default())
    }

    /// Lets a program go on, but not for ever.
    fn leave(
        &self,
        mut running: JoinHandle<Option<Finished>>,
        stop: CancellationToken,
        limit: Duration,
    ) {
        self.detached.spawn(async move {
            if tokio::time::timeout(limit, &mut running).await.is_err() {
                stop.cancel();
                let _ = running.await;
            }
        });
    }
}

impl Program {
    fn new(process: Supervised) -> std::io::Result<Self> {
        Ok(Self {
            stdin: pipe::Sender::from_owned_fd(process.stdin)?,
            stdout: process.handle.output(process.stdout)?,
            stderr: process.handle.output(process.stderr)?,
            handle: process.handle,
        })
    }

    /// Runs to the end, or until `stop`; either way nothing of it is left.
    async fn run(
        self,
        input: Bytes,
        stop: CancellationToken,
        early: oneshot::Sender<Duration>,
    ) -> Option<Finished> {
        let Self {
            mut stdin,
            stdout,
            stderr,
            handle,
        } = self;
        let exited = handle.exited();
        let ending = stop.clone();
        let end = async move {
            ending.cancelled().await;
            handle.end(Ladder {
                exit: Duration::ZERO,
                term: GRACE,
            });
            std::future::pending::<()>().await;
        };
        let feed = async move {
            // A program that does not read its input is no failure.
            let _ = stdin.write_all(&input).await;
            drop(stdin);
        };
        let streams = async {
            tokio::join!(
                feed,
                read_stdout(stdout, early),
                read_capped(stderr),
                exited
            )
        };
        tokio::select! {
            ((), stdout, stderr, exit) = streams => Some(Finished {
                stdout,
                stderr,
                status: exit.status,
            }),
            () = end => None,
        }
    }
}

async fn read_stdout(
    mut stream: impl AsyncRead + Unpin,
    early: oneshot::Sender<Duration>,
) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut early = Some(early);
    while read_more(&mut stream, &mut kept).await {
        let newline = kept.iter().take(FIRST_LINE).position(|byte| *byte == b'\n');
        if let Some(end) = newline
            && let Some(early) = early.take()
            && let Some(limit) = goes_on(&kept[..end])
        {
            let _ = early.send(limit);
        }
    }
    // Held to the end: a dropped sender must not look like a wish.
    drop(early);
    kept
}

async fn read_capped(mut stream: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut kept = Vec::new();
    while read_more(&mut stream, &mut kept).await {}
    kept
}

async fn read_more(stream: &mut (impl AsyncRead + Unpin), kept: &mut Vec<u8>) -> bool {
    let mut chunk = [0; 8192];
    match stream.read(&mut chunk).await {
        Ok(0) | Err(_) => false,
        Ok(count) => {
            let room = OUTPUT.saturating_sub(kept.len()).min(count);
            kept.extend_from_slice(&chunk[..room]);
            true
        }
    }
}

/// The time limit of a program whose first line says that it goes on by itself.
fn goes_on(line: &[u8]) -> Option<Duration> {
    let value: Value = serde_json::from_slice(line).ok()?;
    if value.get("async") != Some(&Value::Bool(true)) {
        return None;
    }
    let millis = value.get("asyncTimeout").and_then(Value::as_u64);
    Some(millis.map_or(DEFAULT_TIMEOUT, Duration::from_millis))
}

fn judge(occasion: &Occasion<'_>, finished: Option<Finished>) -> (Ran, Written) {
    let Some(finished) = finished else {
        return (Ran::Cancelled, Written::default());
    };
    let status = finished.status;
    let written = Written::from(finished);
    let ran = match status {
        ExitStatus::Code(0) => read_output(&occasion.event, &written.stdout),
        ExitStatus::Code(2) => Ran::Blocked(written.stderr.clone()),
        other => Ran::Failed(failure_text(other, &written.stderr)),
    };
    (ran, written)
}

fn failure_text(status: ExitStatus, stderr: &str) -> String {
    let how = match status {
        ExitStatus::Code(code) => format!("it exited with code {code}"),
        ExitStatus::Signal(signal) => format!("it was killed by signal {signal}"),
        _ => "it ended in an unknown way".to_owned(),
    };
    match stderr.trim() {
        "" => how,
        stderr => format!("{how}: {stderr}"),
    }
}

impl From<Finished> for Written {
    fn from(finished: Finished) -> Self {
        Self {
            stdout: String::from_utf8_lossy(&finished.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&finished.stderr).into_owned(),
            exit_code: match finished.status {
                ExitStatus::Code(code) => Some(i64::from(code)),
                _ => None,
            },
        }
    }
}
