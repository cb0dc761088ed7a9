//! `cargo xtask bench sdk`: builds the bench workspace and runs its driver.
//!
//! The programs measured live in `bench/`, a workspace of its own, so that the
//! dependencies of other people's SDKs stay out of ours.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::conformance::{Install, Kit};
use crate::process;
use crate::report;
use crate::workspace::{Workspace, cargo};

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let Some(("sdk", rest)) = arguments
        .split_first()
        .map(|(what, rest)| (what.as_str(), rest))
    else {
        bail!("`cargo xtask bench` measures one thing: `cargo xtask bench sdk`");
    };
    let bench = workspace.root.join("bench");
    let binaries = build(&bench)?;
    let mut driver = Command::new(binaries.join("bench-driver"));
    driver
        .args(rest)
        .arg("--binaries")
        .arg(&binaries)
        .arg("--scripts")
        .arg(bench.join("scripts"));
    match Kit::prepare(workspace, Install::Allowed, &mut |line| report::line(line)) {
        Ok(kit) => {
            driver.envs(kit.environment());
        }
        Err(error) => report::line(&format!("note: the official SDKs are left out: {error:#}")),
    }
    list_sessions(workspace, &mut driver);
    let status = driver
        .status()
        .with_context(|| format!("failed to start {}", process::shown(&driver)))?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What is built, in this order; only the first two must build.
const PACKAGES: [&str; 7] = [
    "bench-driver",
    "bench-fake",
    "bench-floors",
    "peer-agents-sdk",
    "peer-codes",
    "peer-wrapper",
    "peer-falconer",
];

/// Builds one package at a time: built together they would share features, and
/// no peer would be measured as its users get it.
fn build(bench: &Path) -> Result<PathBuf> {
    let binaries = bench.join("target/release");
    for package in PACKAGES {
        report::line(&format!("==> building {package} (release)"));
        let mut command = cargo();
        command.current_dir(bench).args([
            "build",
            "--release",
            "--quiet",
            "--target-dir",
            "target",
            "--package",
            package,
        ]);
        let status = command
            .stdin(Stdio::null())
            .status()
            .context("failed to start cargo")?;
        if !status.success() && ["bench-driver", "bench-fake"].contains(&package) {
            bail!("{package} did not build ({status})");
        }
        if !status.success() {
            report::line(&format!("note: {package} did not build and is left out"));
            // One from an earlier build would pass for this one.
            let _ = std::fs::remove_file(binaries.join(package));
        }
    }
    Ok(binaries)
}

/// The example that lists sessions is measured beside the official function.
fn list_sessions(workspace: &Workspace, driver: &mut Command) {
    let name = "list_sessions";
    let exists = workspace
        .packages
        .iter()
        .any(|package| package.examples.iter().any(|example| example == name));
    if !exists {
        report::line(
            "note: the example `list_sessions` does not exist yet, so listing is measured for peers only",
        );
        return;
    }
    let mut command = cargo();
    command.current_dir(&workspace.root).args([
        "build",
        "--release",
        "-p",
        "falconer",
        "--example",
        name,
    ]);
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => {
            driver.env(
                "FALCONER_LIST_SESSIONS",
                workspace.target.join("release/examples").join(name),
            );
        }
        Ok(_) | Err(_) => report::line("note: the example `list_sessions` did not build"),
    }
}
