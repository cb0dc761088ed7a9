//! Which steps `cargo xtask test` takes, in which order.
//!
//! Cheap checks first, so that a slip of formatting does not cost a build.

use std::path::PathBuf;
use std::process::Command;

use super::step::{Count, Rest, Step};
use crate::conformance::Kit;
use crate::process;
use crate::workspace::{Workspace, cargo};

/// The package that builds the fake engine, and the word its executable is known by.
const FAKE_ENGINE: (&str, &str) = ("falconer-testkit", "fake");

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// What is left out, and why: nothing is left out silently.
    pub(super) notes: Vec<String>,
}

/// Everything the steps share.
struct Surroundings<'a> {
    workspace: &'a Workspace,
    variables: Vec<(&'static str, PathBuf)>,
    has_nextest: bool,
    /// The profile of `.config/nextest.toml` to run with.
    profile: &'static str,
}

impl Plan {
    pub(super) fn new(workspace: &Workspace, kit: &Kit, only: Option<&str>) -> Plan {
        let fake_engine = fake_engine(workspace);
        let mut variables: Vec<(&'static str, PathBuf)> = kit
            .environment()
            .map(|(name, path)| (name, path.to_owned()))
            .into();
        if let Some(name) = &fake_engine {
            variables.push((
                "FALCONER_FAKE_ENGINE",
                workspace.target.join("debug").join(name),
            ));
        }
        let around = Surroundings {
            workspace,
            variables,
            has_nextest: process::find_program("cargo-nextest").is_some(),
            profile: super::strictness().profile(),
        };
        match only {
            Some(filter) => around.quick(filter),
            None => around.full(fake_engine.as_deref()),
        }
    }
}

impl Surroundings<'_> {
    fn quick(&self, filter: &str) -> Plan {
        let mut steps = vec![self.build()];
        let mut tests = self.tests();
        tests.count = Count::Tests(Rest::FilteredOut);
        tests.command.arg(filter);
        steps.push(tests);
        let note = "with `--only`, format, lints, tidy, doc tests and licences are left out";
        Plan {
            steps,
            notes: vec![note.to_owned()],
        }
    }

    fn full(&self, fake_engine: Option<&str>) -> Plan {
        let mut notes = Vec::new();
        let mut steps = vec![
            self.check("format", &["fmt", "--all", "--check"]),
            self.check("tidy", &["xtask", "tidy"]),
            self.check("lints", &LINTS),
        ];
        if fake_engine.is_none() {
            notes.push(format!(
                "{} builds no executable with `{}` in its name, so FALCONER_FAKE_ENGINE is not set",
                FAKE_ENGINE.0, FAKE_ENGINE.1
            ));
        }
        steps.push(self.build());
        steps.push(self.tests());
        steps.push(self.library_features());
        steps.push(self.doc_tests());
        steps.push(self.check("speed", &SPEED));
        if process::find_program("cargo-deny").is_some() {
            steps.push(self.check(
                "licences",
                &["deny", "check", "licenses", "bans", "sources"],
            ));
            steps.push(self.check("advisories", &["deny", "check", "advisories"]));
        } else {
            notes.push(
                "cargo-deny is not installed, so licences and advisories are not checked here"
                    .to_owned(),
            );
        }
        Plan { steps, notes }
    }

    fn check(&self, name: &'static str, arguments: &[&str]) -> Step {
        Step {
            name,
            command: self.cargo(arguments),
            count: Count::ExitCode,
        }
    }

    /// Builds everything once, executables and examples too, with the features the tests have.
    fn build(&self) -> Step {
        self.check("build", &["build", "--workspace", "--all-targets"])
    }

    fn tests(&self) -> Step {
        let command = if self.has_nextest {
            let mut command = self.cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]);
            command.args(["--profile", self.profile]);
            // A workspace that has no test yet is for the total to judge.
            command.args([
                "--no-tests=pass",
                "--status-level=pass",
                "--show-progress=counter",
            ]);
            command
        } else {
            self.cargo(&["test", "--workspace", "--all-targets", "--no-fail-fast"])
        };
        Step {
            name: "tests",
            command,
            count: Count::Tests(Rest::Skipped),
        }
    }

    fn doc_tests(&self) -> Step {
        let command = self.cargo(&["test", "--workspace", "--doc", "--no-fail-fast"]);
        Step {
            name: "doc tests",
            command,
            count: Count::Tests(Rest::Skipped),
        }
    }

    /// Tests of features that no executable has, so that users of the library are covered too.
    fn library_features(&self) -> Step {
        let package = ["test", "--package", "falconer", "--features", "rmcp"];
        let mut command = self.cargo(&package);
        command.args(["--test", "it", "rmcp"]);
        Step {
            name: "library features",
            command,
            count: Count::Tests(Rest::FilteredOut),
        }
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = cargo();
        command.current_dir(&self.workspace.root).args(arguments);
        command.envs(self.variables.iter().map(|(name, path)| (name, path)));
        command.env("CARGO_TERM_COLOR", "never");
        command
    }
}

/// Fails if judging a command takes longer than promised.
const SPEED: [&str; 5] = ["bench", "--package", "falconer-rule", "--bench", "judge"];

const LINTS: [&str; 6] = [
    "clippy",
    "--workspace",
    "--all-targets",
    "--",
    "-D",
    "warnings",
];

fn fake_engine(workspace: &Workspace) -> Option<String> {
    let (package, word) = FAKE_ENGINE;
    workspace
        .package(package)?
        .binaries
        .iter()
        .find(|name| name.contains(word))
        .cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;

    fn workspace(binaries: &[&str]) -> Workspace {
        let package = Package {
            name: FAKE_ENGINE.0.to_owned(),
            binaries: binaries.iter().map(|&name| name.to_owned()).collect(),
            ..Package::default()
        };
        Workspace {
            root: "/r".into(),
            target: "/r/target".into(),
            packages: vec![package],
        }
    }

    fn kit() -> Kit {
        Kit {
            claude: "/k/claude".into(),
            typescript_sdk: "/k/ts".into(),
            node: "/k/node".into(),
            python: "/k/python".into(),
            browser_kit: "browser".into(),
            chromium: "chromium".into(),
        }
    }

    fn names(plan: &Plan) -> Vec<&str> {
        plan.steps
            .iter()
            .map(|step| step.name)
            .filter(|name| !matches!(*name, "licences" | "advisories"))
            .collect()
    }

    #[test]
    fn every_check_runs_unless_a_filter_is_given() {
        let workspace = workspace(&["fake-claude"]);
        let full = Plan::new(&workspace, &kit(), None);
        assert_eq!(
            names(&full),
            [
                "format",
                "tidy",
                "lints",
                "build",
                "tests",
                "library features",
                "doc tests",
                "speed"
            ]
        );
        let quick = Plan::new(&workspace, &kit(), Some("router"));
        assert_eq!(names(&quick), ["build", "tests"]);
        assert!(quick.notes.iter().any(|note| note.contains("left out")));
    }

    #[test]
    fn tests_are_told_where_everything_is() {
        let plan = Plan::new(&workspace(&["fake-claude"]), &kit(), None);
        let tests = plan
            .steps
            .iter()
            .find(|step| step.name == "tests")
            .expect("a step for the tests");
        let variable = |name: &str| {
            let found = tests.command.get_envs().find(|(key, _)| *key == name);
            found
                .and_then(|(_, value)| value)
                .map(|value| value.to_string_lossy().into_owned())
        };
        let expected = [
            ("FALCONER_CLAUDE_PATH", "/k/claude"),
            ("FALCONER_TS_SDK", "/k/ts"),
            ("FALCONER_NODE", "/k/node"),
            ("FALCONER_PYTHON", "/k/python"),
            ("FALCONER_FAKE_ENGINE", "/r/target/debug/fake-claude"),
        ];
        for (name, value) in expected {
            assert_eq!(variable(name).as_deref(), Some(value), "{name}");
        }
    }

    #[test]
    fn a_missing_fake_engine_is_said() {
        let plan = Plan::new(&workspace(&[]), &kit(), None);
        assert!(
            plan.notes
                .iter()
                .any(|note| note.contains("FALCONER_FAKE_ENGINE is not set"))
        );
    }
}
