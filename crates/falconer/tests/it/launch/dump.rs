//! A stand-in for the CLI that writes down how it was started.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use falconer::LaunchPlan;
use serde_json::{Value, json};

/// How a process was started.
#[derive(Debug)]
pub(super) struct Dump {
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: String,
    /// The initialize request.
    pub(super) request: Value,
}

/// Puts the stand-in into a directory of its own.
pub(super) fn stub(directory: &Path) -> PathBuf {
    std::fs::create_dir_all(directory).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/official/stub.sh");
    let stub = directory.join("claude");
    // Copied by another process: see `Script::write` in the version tests for the reason.
    let copied = Command::new("cp").args([&source, &stub]).status().unwrap();
    assert!(copied.success());
    let made = Command::new("chmod").arg("+x").arg(&stub).status().unwrap();
    assert!(made.success());
    stub
}

/// What the stand-in in this directory wrote down.
pub(super) fn read(directory: &Path) -> Option<Dump> {
    let text = |name| std::fs::read_to_string(directory.join(name)).ok();
    let args = text("args")?;
    let env = text("env")?;
    let line: Value = serde_json::from_str(&text("initialize")?).unwrap();
    Some(Dump {
        args: args.split_terminator('\0').map(str::to_owned).collect(),
        env: env
            .split_terminator('\0')
            .filter_map(|variable| variable.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        cwd: text("cwd")?.trim_end().to_owned(),
        request: line["request"].clone(),
    })
}

/// Starts a plan and sends its first request.
pub(super) fn start(plan: &LaunchPlan) -> Dump {
    let mut command = Command::new(&plan.program);
    command
        .args(&plan.args)
        .env_clear()
        .envs(plan.env.iter().cloned());
    if let Some(cwd) = &plan.cwd {
        command.current_dir(cwd);
    }
    let line = json!({
        "type": "control_request", "request_id": "r1", "request": plan.initialize,
    });
    let input = format!("{line}\n{}\n", json!({"type": "user"}));
    let output = run(&mut command, input, Duration::from_secs(60));
    assert!(output.contains("\"r1\""), "{output}");
    read(plan.program.parent().unwrap()).unwrap()
}

/// Runs a command with this input to its end and returns its output.
pub(super) fn run(command: &mut Command, input: String, limit: Duration) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // A process that ends early closes the pipe; its output says why.
        let _ = std::io::Write::write_all(&mut stdin, input.as_bytes());
    });
    let id = child.id();
    let (done, watched) = std::sync::mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        let started = Instant::now();
        let expired = watched.recv_timeout(limit).is_err() && started.elapsed() >= limit;
        if expired {
            let _ = Command::new("kill").arg("-9").arg(id.to_string()).status();
        }
    });
    let output = child.wait_with_output().unwrap();
    drop(done);
    writer.join().unwrap();
    watchdog.join().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}: {stdout} {stderr}",
        output.status
    );
    stdout
}
