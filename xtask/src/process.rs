//! Running other programs: output passed on line by line, with a time limit.

use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// Runs `command` with no stdin and hands over each line of its stdout and
/// stderr as it comes. Fails if it cannot start or takes longer than `limit`.
pub(crate) fn stream(
    command: &mut Command,
    limit: Duration,
    mut on_line: impl FnMut(&str),
) -> Result<ExitStatus> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("failed to start {}", shown(command)))?;
    let lines = forward_output(&mut child);
    let deadline = Instant::now() + limit;
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => on_line(&line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child
                    .kill()
                    .and_then(|()| child.wait())
                    .context("failed to stop a program")?;
                bail!("{} was stopped after {} s", shown(command), limit.as_secs());
            }
        }
    }
    child
        .wait()
        .with_context(|| format!("failed to wait for {}", shown(command)))
}

/// Runs `command` and returns what it wrote to stdout; a failure carries its stderr.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("failed to start {}", shown(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} failed ({}): {}",
            shown(command),
            output.status,
            stderr.trim()
        );
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("{} wrote text that is not UTF-8", shown(command)))
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    format!("`{}`", words.join(" "))
}

/// A program found in `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn forward_output(child: &mut Child) -> Receiver<String> {
    let (tx, rx) = channel();
    if let Some(stdout) = child.stdout.take() {
        forward_lines(stdout, tx.clone());
    }
    if let Some(stderr) = child.stderr.take() {
        forward_lines(stderr, tx);
    }
    rx
}

fn forward_lines(pipe: impl Read + Send + 'static, tx: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
            if tx
                .send(String::from_utf8_lossy(&line).into_owned())
                .is_err()
            {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn lines_of_both_pipes_arrive() {
        let mut seen = Vec::new();
        let status = stream(
            &mut shell("echo one; echo two >&2"),
            Duration::from_secs(30),
            |line| {
                seen.push(line.to_owned());
            },
        );
        seen.sort();
        assert!(status.is_ok_and(|status| status.success()));
        assert_eq!(seen, ["one", "two"]);
    }

    #[test]
    fn a_program_over_its_time_limit_is_stopped_and_named() {
        let result = stream(
            &mut shell("exec sleep 600"),
            Duration::from_millis(50),
            |_| {},
        );
        let text = result.expect_err("a time limit").to_string();
        assert!(
            text.contains("sleep 600") && text.contains("was stopped"),
            "{text}"
        );
    }

    #[test]
    fn a_failed_capture_says_what_the_program_said() {
        let text = capture(&mut shell("echo no such thing >&2; exit 3"))
            .expect_err("exit 3")
            .to_string();
        assert!(
            text.contains("no such thing") && text.contains('3'),
            "{text}"
        );
    }

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let mut command = Command::new("/opt/toolchain/bin/cargo");
        command.args(["clippy", "--workspace"]);
        assert_eq!(shown(&command), "`cargo clippy --workspace`");
    }
}
