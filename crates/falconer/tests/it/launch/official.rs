//! One option at a time, through both official SDKs and through our plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use falconer::Surroundings;
use serde_json::{Value, json};

use super::cases::{Case, cases};
use super::compare::{Difference, Launch, differences};
use super::dump;
use super::intended::{INTENDED, Intended};

/// An official SDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sdk {
    TypeScript,
    Python,
}

impl Sdk {
    fn name(self) -> &'static str {
        match self {
            Self::TypeScript => "typescript",
            Self::Python => "python",
        }
    }

    /// What this SDK is given in a case, if it knows the option.
    fn options(self, case: &Case) -> Option<Value> {
        match self {
            Self::TypeScript => case.typescript.clone(),
            Self::Python => case.python.clone(),
        }
    }

    fn command(self) -> Command {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/official");
        match self {
            Self::TypeScript => {
                let package = variable(
                    "FALCONER_TS_SDK",
                    "the directory of the npm package @anthropic-ai/claude-agent-sdk",
                );
                let mut command = Command::new("node");
                command.arg(scripts.join("dump.mjs")).arg(package);
                command
            }
            Self::Python => {
                let python = variable(
                    "FALCONER_PYTHON",
                    "a python that can import claude_agent_sdk (PyPI: claude-agent-sdk)",
                );
                let mut command = Command::new(python);
                command.arg(scripts.join("dump.py"));
                command
            }
        }
    }
}

fn variable(name: &str, what: &str) -> PathBuf {
    let value = std::env::var_os(name);
    value
        .unwrap_or_else(|| panic!("set {name} to {what}"))
        .into()
}

/// The environment every launch of the comparison inherits.
fn inherited(home: &Path) -> Vec<(&'static str, String)> {
    vec![
        ("PATH", std::env::var("PATH").unwrap()),
        ("HOME", home.to_str().unwrap().to_owned()),
        ("LC_ALL", "C.UTF-8".to_owned()),
        ("CLAUDECODE", "1".to_owned()),
        ("NODE_OPTIONS", "--no-warnings".to_owned()),
        ("DEBUG", "x".to_owned()),
    ]
}

/// Runs all cases through an SDK at once; what it did in each.
fn observe(sdk: Sdk, root: &Path) -> BTreeMap<&'static str, Result<dump::Dump, String>> {
    let cases = cases();
    let known = cases
        .iter()
        .filter_map(|case| Some((case, sdk.options(case)?)));
    let directory = |case: &Case| root.join(sdk.name()).join(case.name);
    let input = known.clone().map(|(case, options)| {
        let stub = dump::stub(&directory(case));
        json!({"name": case.name, "stub": stub, "options": options, "with": case.with})
    });
    let input = Value::Array(input.collect());
    let mut command = sdk.command();
    command.env_clear().envs(inherited(root)).current_dir(root);
    let output = dump::run(&mut command, input.to_string(), Duration::from_secs(240));
    let outcomes: BTreeMap<String, Option<String>> = serde_json::from_str(&output).unwrap();
    let observed = known.map(|(case, _)| {
        let failure = outcomes[case.name].clone();
        let outcome = failure.map_or_else(
            || dump::read(&directory(case)).ok_or_else(|| "nothing was started".to_owned()),
            Err,
        );
        (case.name, outcome)
    });
    observed.collect()
}

/// One refuses and the other does not.
fn outcome(ours: Option<String>, theirs: Option<String>) -> Difference {
    Difference {
        place: "outcome".to_owned(),
        ours: ours.map(Value::from),
        theirs: theirs.map(Value::from),
    }
}

/// Compares our plan of each case with what the SDK did.
fn compare(sdk: Sdk) {
    let root = tempfile::tempdir().unwrap();
    let base = inherited(root.path());
    let surroundings = base
        .iter()
        .fold(Surroundings::new("/bin/claude"), |machine, (k, v)| {
            machine.with_variable(k, v)
        });
    let observed = observe(sdk, root.path());
    assert!(observed.len() >= 45, "only {} cases", observed.len());
    let mut unexplained = Vec::new();
    let mut used: Vec<&Intended> = Vec::new();
    for case in cases() {
        let Some(theirs) = observed.get(case.name) else {
            continue;
        };
        let ours = case.options.plan(&case.host, &surroundings);
        let found = match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => {
                differences(&Launch::planned(&ours), &Launch::observed(theirs))
            }
            (Err(_), Err(_)) => Vec::new(),
            (Ok(_), Err(error)) => vec![outcome(None, Some(error.clone()))],
            (Err(error), Ok(_)) => vec![outcome(Some(error.to_string()), None)],
        };
        for found in found {
            match INTENDED
                .iter()
                .find(|intended| intended.covers(sdk, case.name, &found))
            {
                Some(intended) => used.push(intended),
                None => unexplained.push(format!("{}: {found}", case.name)),
            }
        }
    }
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
    let stale = INTENDED.iter().filter(|intended| intended.sdk == sdk);
    let stale: Vec<_> = stale.filter(|intended| !used.contains(intended)).collect();
    assert!(stale.is_empty(), "no longer different: {stale:?}");
}

#[test]
fn launches_differ_from_the_typescript_sdk_only_where_intended() {
    compare(Sdk::TypeScript);
}

#[test]
fn launches_differ_from_the_python_sdk_only_where_intended() {
    compare(Sdk::Python);
}
