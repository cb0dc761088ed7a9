//! Writes the server's OpenAPI file and the clients made from it, in TypeScript and Python.
//!
//! They are made by a test of the server, which otherwise compares them: there is one generator.

use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process;
use crate::report;
use crate::workspace::Workspace;

const LIMIT: Duration = Duration::from_secs(1800);

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    let mut command = Command::new("cargo");
    command
        .current_dir(&workspace.root)
        .env("FALCONER_WRITE_OPENAPI", "1")
        .args(["test", "--package", "falconer-server", "--test", "it", "--"])
        .args([
            "--exact",
            "openapi::the_committed_description_and_clients_are_those_of_the_code",
        ]);
    let status = process::stream(&mut command, LIMIT, report::line)?;
    match status.success() {
        true => Ok(ExitCode::SUCCESS),
        false => bail!("the description could not be written"),
    }
}
