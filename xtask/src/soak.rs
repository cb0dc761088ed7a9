//! `cargo xtask soak`: the tests that run for long, at their full size.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::conformance::{Install, Kit};
use crate::process;
use crate::report;
use crate::workspace::{Workspace, cargo};

const LIMIT: Duration = Duration::from_secs(3600);

/// Their short form is in every test run.
const TESTS: [&str; 4] = [
    "soak::every_client_sees_the_stored_log_whatever_dies",
    "cutting::a_long_turn_behind_a_proxy_that_cuts_every_request_completes",
    "endings::no_process_outlives_its_session_however_that_ends",
    "browser::reloads_and_a_killed_server_change_nothing_one_sees",
];

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    let kit = Kit::prepare(workspace, Install::Allowed, &mut |line| report::line(line))?;
    for test in TESTS {
        report::line(&format!("==> {test}"));
        let mut command = cargo();
        command
            .current_dir(&workspace.root)
            .envs(kit.environment())
            .env("FALCONER_SOAK", "1")
            .args(["test", "--package", "falconer-server", "--test", "it", "--"])
            .args(["--exact", test]);
        let status = process::stream(&mut command, LIMIT, report::line)?;
        if !status.success() {
            bail!("{test} failed");
        }
    }
    Ok(ExitCode::SUCCESS)
}
