//! Parts of the Rust toolchain that a minimal installation lacks.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::Install;
use crate::process;
use crate::workspace::cargo;

const LIMIT: Duration = Duration::from_secs(5 * 60);
/// The component and the cargo command it brings.
const COMPONENTS: [(&str, &str); 2] = [("rustfmt", "fmt"), ("clippy", "clippy")];

pub(super) fn ensure(install: Install, note: &mut dyn FnMut(&str)) -> Result<()> {
    let missing: Vec<&str> = COMPONENTS
        .iter()
        .filter(|(_, command)| !works(command))
        .map(|(component, _)| *component)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if install == Install::Forbidden || process::find_program("rustup").is_none() {
        bail!(
            "the Rust toolchain lacks {0}\nhint: run `rustup component add {0}`, or install the package of your \
             distribution that brings it; then run `cargo xtask test` again",
            missing.join(" ")
        );
    }
    note(&format!(
        "adding {} to the Rust toolchain",
        missing.join(" ")
    ));
    let mut command = Command::new("rustup");
    command.args(["component", "add"]).args(&missing);
    let status = process::stream(&mut command, LIMIT, |line| note(line))?;
    if !status.success() {
        bail!("{} failed ({status})", process::shown(&command));
    }
    Ok(())
}

fn works(command: &str) -> bool {
    process::capture(cargo().args([command, "--version"])).is_ok()
}
