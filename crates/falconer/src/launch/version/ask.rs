//! Running `claude --version` with a limit on time and output.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::{CliVersion, VersionProblem};

/// More than any version line; the rest of a longer output is not read.
const OUTPUT_LIMIT: usize = 4096;

/// Interval at which a process that closed its output is checked for its end.
const EXIT_POLL: Duration = Duration::from_millis(1);

/// Runs `path --version` and reads what it prints. Blocks for at most `timeout`.
pub(super) fn ask(path: &Path, timeout: Duration) -> Result<CliVersion, VersionProblem> {
    let deadline = Instant::now() + timeout;
    let mut child = spawn(path)?;
    let finished = finish(&mut child, deadline);
    if !matches!(finished, Ok(Some(_))) {
        stop(&mut child);
    }
    let (status, output) = finished?.ok_or(VersionProblem::TimedOut(timeout))?;
    let output = String::from_utf8_lossy(&output).trim().to_owned();
    if !status.success() {
        return Err(VersionProblem::Failed { status, output });
    }
    Ok(output.parse()?)
}

fn spawn(path: &Path) -> std::io::Result<Child> {
    Command::new(path)
        .arg("--version")
        .env_remove("NODE_OPTIONS")
        .env_remove("CLAUDECODE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

/// Output and status, or nothing if the deadline came first.
fn finish(child: &mut Child, deadline: Instant) -> std::io::Result<Option<(ExitStatus, Vec<u8>)>> {
    let mut output = Vec::new();
    if let Some(mut stdout) = child.stdout.take()
        && !read_until(&mut stdout, &mut output, deadline)?
    {
        return Ok(None);
    }
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(Some((status, output)));
        }
        std::thread::sleep(EXIT_POLL);
    }
    Ok(None)
}

/// Reads to the end or the limit; false if the deadline came first.
fn read_until(
    stdout: &mut ChildStdout,
    output: &mut Vec<u8>,
    deadline: Instant,
) -> std::io::Result<bool> {
    let mut chunk = [0; OUTPUT_LIMIT];
    while output.len() < OUTPUT_LIMIT {
        if !wait_readable(stdout, deadline)? {
            return Ok(false);
        }
        match stdout.read(&mut chunk)? {
            0 => break,
            length => output.extend_from_slice(&chunk[..length]),
        }
    }
    Ok(true)
}

fn wait_readable(stdout: &ChildStdout, deadline: Instant) -> std::io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut fds = [PollFd::new(stdout, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends the process group and reaps the child.
fn stop(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may be gone already, which is what is wanted.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}
