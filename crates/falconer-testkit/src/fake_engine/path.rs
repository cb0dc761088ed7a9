//! Finds the executable of the fake engine, or builds it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::Error;

/// The name of the executable.
const NAME: &str = "falconer-fake-engine";

/// Names the executable outright.
const VARIABLE: &str = "FALCONER_FAKE_ENGINE";

/// The executable `falconer-fake-engine`.
///
/// Cargo tells only the crate's own tests where its executables are. So this looks, in this
/// order, at the environment variable `FALCONER_FAKE_ENGINE`; next to the running executable
/// and in the folder above it (`target/debug`, for a test in `target/debug/deps`); and at last
/// builds it with `cargo build -p falconer-testkit --bin falconer-fake-engine`. One that lies
/// in the target folder is used as it is, even if the sources have changed since.
///
/// # Errors
/// [`Error::NotFound`] with what was tried.
pub fn fake_engine_path() -> Result<PathBuf, Error> {
    if let Some(path) = std::env::var_os(VARIABLE).map(PathBuf::from) {
        return if path.is_file() {
            Ok(path)
        } else {
            Err(missing(format!("{VARIABLE} is {}", path.display())))
        };
    }
    match neighbours().into_iter().find(|path| path.is_file()) {
        Some(path) => Ok(path),
        None => build(),
    }
}

fn neighbours() -> Vec<PathBuf> {
    let executable = std::env::current_exe().unwrap_or_default();
    let folders = executable.ancestors().skip(1).take(2);
    folders.map(|folder| folder.join(NAME)).collect()
}

fn build() -> Result<PathBuf, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "-p", "falconer-testkit", "--bin", NAME])
        .arg("--message-format=json")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| missing(format!("cargo could not be started: {error}")))?;
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let built = messages.lines().rev().find_map(executable);
    built.ok_or_else(|| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr.lines().last().unwrap_or_default();
        missing(format!("it was not there and could not be built: {last}"))
    })
}

/// The executable that a message of cargo announces.
fn executable(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

fn missing(looked: String) -> Error {
    Error::NotFound {
        what: "the fake engine",
        looked,
        hint: format!(
            "build it with `cargo build -p falconer-testkit --bin {NAME}`, or set {VARIABLE} to \
             its path"
        ),
    }
}
