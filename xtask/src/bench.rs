//! `cargo xtask bench`: build the bench workspace and run its drivers.
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

/// Measures one thing.
type Measure = fn(&Workspace, &[String]) -> Result<ExitCode>;

/// What can be measured: its name, what it is about, how it is done.
pub(crate) const MEASURED: &[(&str, &str, Measure)] = &[
    (
        "sdk",
        "the SDK beside its peers [--rounds <n>] [--only <table>]",
        sdk,
    ),
    (
        "engine",
        "the native engine beside the official CLI",
        engine,
    ),
    ("session", "events and live sessions", session),
    ("server", "the store and what is built on it", server),
    (
        "command",
        "how long `falconer` takes to say something",
        |workspace, _| crate::bench_command::run(workspace),
    ),
    ("page", "the page in a browser", |workspace, _| {
        crate::bench_page::run(workspace)
    }),
];

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let (what, rest) = arguments
        .split_first()
        .map_or(("", &[][..]), |(what, rest)| (what.as_str(), rest));
    match MEASURED.iter().find(|(name, ..)| *name == what) {
        Some((.., measure)) => measure(workspace, rest),
        None => {
            let names: Vec<&str> = MEASURED.iter().map(|(name, ..)| *name).collect();
            bail!(
                "say what to measure: `cargo xtask bench` and one of {}",
                names.join(", ")
            )
        }
    }
}

/// Events and live sessions.
fn session(workspace: &Workspace, rest: &[String]) -> Result<ExitCode> {
    let bench = workspace.root.join("bench");
    build_package(&bench, "bench-session")?;
    let mut driver = Command::new(bench.join("target/release/bench-session"));
    let cassettes = workspace.root.join("fixtures/cassettes");
    driver.arg("--cassettes").arg(cassettes).args(rest);
    finish(&mut driver)
}

/// The native engine beside the official CLI.
fn engine(workspace: &Workspace, rest: &[String]) -> Result<ExitCode> {
    let bench = workspace.root.join("bench");
    build_package(&bench, "bench-engine")?;
    build_release(workspace)?;
    let mut driver = Command::new(bench.join("target/release/bench-engine"));
    driver
        .arg("--ours")
        .arg(workspace.target.join("release/falconer-claude"))
        .args(rest);
    match Kit::prepare(workspace, Install::Allowed, &mut |line| report::line(line)) {
        Ok(kit) => {
            let environment = kit.environment();
            let path = environment.iter().find(|(name, _)| *name == OFFICIAL);
            if let Some((_, path)) = path {
                driver.arg("--official").arg(path);
            }
        }
        Err(error) => report::line(&format!("note: the official CLI is left out: {error:#}")),
    }
    finish(&mut driver)
}

/// The store and what is built on it.
fn server(workspace: &Workspace, rest: &[String]) -> Result<ExitCode> {
    let bench = workspace.root.join("bench");
    build_package(&bench, "bench-server")?;
    // On the disk of the build, not on one that is memory.
    let mut driver = Command::new(bench.join("target/release/bench-server"));
    driver
        .arg("--directory")
        .arg(bench.join("target"))
        .args(rest);
    finish(&mut driver)
}

/// The variable that names the official CLI.
const OFFICIAL: &str = "FALCONER_CLAUDE_PATH";

/// The executable as users get it.
fn build_release(workspace: &Workspace) -> Result<()> {
    report::line("==> building falconer-claude (release)");
    let mut command = cargo();
    command.current_dir(&workspace.root).args([
        "build",
        "--release",
        "--quiet",
        "-p",
        "falconer-cli",
    ]);
    let status = command.stdin(Stdio::null()).status();
    match status.context("failed to start cargo")?.success() {
        true => Ok(()),
        false => bail!("falconer-claude did not build"),
    }
}

fn finish(driver: &mut Command) -> Result<ExitCode> {
    let status = driver
        .status()
        .with_context(|| format!("failed to start {}", process::shown(driver)))?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Our SDK beside its peers.
fn sdk(workspace: &Workspace, rest: &[String]) -> Result<ExitCode> {
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
    finish(&mut driver)
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
        let built = build_package(bench, package);
        if ["bench-driver", "bench-fake"].contains(&package) {
            built?;
        } else if let Err(error) = built {
            report::line(&format!("note: it is left out: {error:#}"));
            // One from an earlier build would pass for this one.
            let _ = std::fs::remove_file(binaries.join(package));
        }
    }
    Ok(binaries)
}

fn build_package(bench: &Path, package: &str) -> Result<()> {
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
    let status = command.stdin(Stdio::null()).status();
    match status.context("failed to start cargo")?.success() {
        true => Ok(()),
        false => bail!("{package} did not build"),
    }
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
