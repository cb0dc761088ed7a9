//! `cargo xtask bench page`: what the page costs, measured in Chromium against the real server.
//!
//! The server is the one of the page's tests, built for release, so that the page comes out of
//! the executable as users get it.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::conformance::{Install, Kit};
use crate::report;
use crate::workspace::{Workspace, cargo};

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    let kit = Kit::prepare(workspace, Install::Allowed, &mut |line| report::line(line))?;
    report::line("==> building the server of the page's tests (release)");
    let stage = build(
        workspace,
        &["test", "--no-run", "-p", "falconer-server", "--test", "it"],
    )?;
    let fake = [
        "build",
        "-p",
        "falconer-testkit",
        "--bin",
        "falconer-fake-engine",
    ];
    let engine = build(workspace, &fake)?;
    let driver = workspace
        .root
        .join("crates/falconer-server/tests/browser/bench.mjs");
    let status = Command::new(&kit.node)
        .arg(driver)
        .envs(kit.environment())
        .env("FALCONER_STAGE", stage)
        .env("FALCONER_FAKE_ENGINE", engine)
        .status()
        .context("failed to start node")?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Builds for release and says where the executable is.
fn build(workspace: &Workspace, arguments: &[&str]) -> Result<PathBuf> {
    let mut command = cargo();
    command
        .current_dir(&workspace.root)
        .args(arguments)
        .args(["--release", "--message-format=json-render-diagnostics"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    let output = command.output().context("failed to start cargo")?;
    if !output.status.success() {
        bail!("`cargo {}` failed", arguments.join(" "));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut built =
        messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    built
        .next_back()
        .with_context(|| format!("`cargo {}` built nothing", arguments.join(" ")))
}
