//! Runs a case of an SDK on one engine.

use std::path::{Path, PathBuf};
use std::process::Command;

use falconer_testkit::scenario::Scenario;
use falconer_testkit::{ApiServer, RealCli, clean_env};
use serde_json::Value;
use tempfile::TempDir;

/// An official SDK.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sdk {
    TypeScript,
    Python,
}

impl Sdk {
    fn program(self) -> PathBuf {
        match self {
            Self::TypeScript => required("FALCONER_NODE").unwrap_or_else(|_| "node".into()),
            Self::Python => required("FALCONER_PYTHON").unwrap(),
        }
    }

    fn driver(self) -> &'static str {
        match self {
            Self::TypeScript => "typescript.mjs",
            Self::Python => "python_sdk.py",
        }
    }
}

fn required(variable: &str) -> Result<PathBuf, String> {
    let value = std::env::var_os(variable).map(PathBuf::from);
    value.ok_or_else(|| format!("{variable} is not set; `cargo xtask test` installs what it names"))
}

/// Both engines lead to the same facts, those of each kind in the same order.
///
/// An SDK calls back as soon as it has read a request, and gives out a message when the program
/// asks for the next one: which of the two is first is chance, and more often so the faster an
/// engine is.
#[track_caller]
pub(super) fn same(sdk: Sdk, case: &str, scenario: fn(&Path) -> Scenario) {
    let official = RealCli::find().unwrap();
    let ours = PathBuf::from(env!("CARGO_BIN_EXE_falconer-claude"));
    let expected = run(sdk, case, official.path(), scenario);
    let found = run(sdk, case, &ours, scenario);
    assert!(!expected.is_empty(), "the case tells nothing");
    assert_eq!(found, expected, "left: ours, right: official");
}

/// What the driver told, a line each.
fn run(sdk: Sdk, case: &str, engine: &Path, scenario: fn(&Path) -> Scenario) -> Vec<String> {
    let (home, project) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let server = ApiServer::start(scenario(project.path())).unwrap();
    let driver = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/official")
        .join(sdk.driver());
    let mut command = Command::new(sdk.program());
    command
        .args([driver.as_os_str(), case.as_ref(), engine.as_os_str()])
        .current_dir(project.path())
        .env_clear()
        .envs(clean_env(home.path(), &server.url()));
    if let Some(package) = std::env::var_os("FALCONER_TS_SDK") {
        command.env("FALCONER_TS_SDK", package);
    }
    let output = command.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{engine:?}: {stdout}\n{stderr}");
    assert!(
        server.unmatched().is_empty(),
        "{engine:?}: {:?}",
        server.unmatched()
    );
    let mut facts: Vec<String> = stdout.lines().map(str::to_owned).collect();
    facts.sort_by_cached_key(|line| kind_of(line));
    facts
}

/// The kind of a fact.
fn kind_of(line: &str) -> String {
    let fact: Value = serde_json::from_str(line).unwrap();
    fact["fact"].as_str().unwrap().to_owned()
}
