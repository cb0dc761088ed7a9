//! The official Python SDK, and what else the tests want of Python, in a virtual environment of
//! its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::{Install, Stamp, start_afresh};
use crate::process;

const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Returns a Python that can import the SDK.
pub(super) fn ensure(
    pins: &Path,
    folder: &Path,
    install: Install,
    note: &mut dyn FnMut(&str),
) -> Result<PathBuf> {
    let requirements = pins.join("requirements.txt");
    let stamp = Stamp::new(folder, &requirements)?;
    let python = folder.join("bin/python");
    if stamp.is_current() && can_import(&python).is_ok() {
        return Ok(python);
    }
    if install == Install::Forbidden {
        bail!(
            "the official Python SDK is not in {}; run `cargo xtask test` without `--no-install`",
            folder.display()
        );
    }
    note("installing the official Python SDK");
    start_afresh(folder)?;
    run(
        Command::new("python3").args(["-m", "venv"]).arg(folder),
        note,
    )?;
    let mut pip = Command::new(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--requirement",
    ]);
    run(pip.arg(&requirements), note)?;
    can_import(&python).context("the Python SDK was installed but cannot be imported")?;
    stamp.write()?;
    Ok(python)
}

fn can_import(python: &Path) -> Result<()> {
    process::capture(Command::new(python).args(["-c", "import claude_agent_sdk, schemathesis"]))
        .map(drop)
}

fn run(command: &mut Command, note: &mut dyn FnMut(&str)) -> Result<()> {
    let status = process::stream(command, LIMIT, |line| note(line))?;
    if !status.success() {
        bail!("{} failed ({status})", process::shown(command));
    }
    Ok(())
}
