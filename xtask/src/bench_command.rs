//! `cargo xtask bench command`: how long `falconer` takes to say something.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::report;
use crate::workspace::{Workspace, cargo};

/// Who waits longer than this for `--help` notices it.
const LIMIT: Duration = Duration::from_millis(10);

/// Measured calls of each; a few before do not count.
const ROUNDS: usize = 50;

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    report::line("==> building falconer (release)");
    let mut build = cargo();
    build
        .current_dir(&workspace.root)
        .args([
            "build",
            "--release",
            "--quiet",
            "-p",
            "falconer-cli",
            "--bin",
            "falconer",
        ])
        .stdin(Stdio::null());
    if !build.status().context("failed to start cargo")?.success() {
        bail!("falconer did not build");
    }
    let program = workspace.target.join("release/falconer");
    let mut is_fast = true;
    for arguments in [&["--version"][..], &["--help"], &["run", "--help"], &[]] {
        let (median, worst) = measure(&program, arguments)?;
        let shown = format!("falconer {}", arguments.join(" "));
        report::line(&format!(
            "{shown:<20} median {median:>8.2?}   p95 {worst:>8.2?}"
        ));
        is_fast &= median < LIMIT;
    }
    report::line(&format!("limit: {LIMIT:?}"));
    Ok(match is_fast {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Median and 95th percentile, from starting the process to its end.
fn measure(program: &Path, arguments: &[&str]) -> Result<(Duration, Duration)> {
    let home = std::env::temp_dir();
    let mut times = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS + 5 {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("HOME", &home)
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let begun = Instant::now();
        let status = command.status().context("failed to start falconer")?;
        let taken = begun.elapsed();
        if !status.success() {
            bail!("falconer {} ended with {status}", arguments.join(" "));
        }
        if round >= 5 {
            times.push(taken);
        }
    }
    times.sort();
    Ok((times[ROUNDS / 2], times[ROUNDS * 95 / 100]))
}
