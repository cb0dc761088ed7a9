//! Tables for `version`.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::feature::{CliFeature, Support};
use super::{CliVersion, TESTED_CLI_VERSION, VersionProblem, version_of};
use crate::error::Error;

#[test]
fn versions_are_read_from_what_the_cli_prints() {
    let table = [
        ("2.1.325 (Claude Code)", Some("2.1.325")),
        ("2.1.325", Some("2.1.325")),
        ("v2.0.1\n", Some("2.0.1")),
        ("  1.0.128 (Claude Code)\n", Some("1.0.128")),
        ("2.2.0-beta.1 (Claude Code)", Some("2.2.0-beta.1")),
        ("2.1.3+build5", Some("2.1.3")),
        ("", None),
        ("2.1", None),
        ("2.1.3.4", None),
        ("2.1.x", None),
        ("2.1.3-", None),
        ("Claude Code 2.1.325", None),
        ("99999999999.1.1", None),
    ];
    for (text, expected) in table {
        let version = text
            .parse::<CliVersion>()
            .ok()
            .map(|version| version.to_string());
        assert_eq!(version.as_deref(), expected, "{text:?}");
    }
}

#[test]
fn versions_are_ordered_by_number_and_a_pre_release_comes_first() {
    let ascending = [
        "1.0.128",
        "2.0.9",
        "2.0.10",
        "2.1.0-alpha",
        "2.1.0-beta",
        "2.1.0",
        "10.0.0",
    ];
    let versions: Vec<CliVersion> = ascending.iter().map(|text| text.parse().unwrap()).collect();
    for (index, older) in versions.iter().enumerate() {
        for newer in &versions[index + 1..] {
            assert_eq!(older.cmp(newer), Ordering::Less, "{older} and {newer}");
            assert_eq!(newer.cmp(older), Ordering::Greater, "{newer} and {older}");
        }
    }
}

#[test]
fn support_is_unknown_only_between_measured_versions() {
    let table = [
        (CliFeature::Effort, (2, 1, 0), Support::No),
        (CliFeature::Effort, (2, 1, 40), Support::Unknown),
        (CliFeature::Effort, (2, 1, 100), Support::Yes),
        (CliFeature::VerbatimPrompts, (2, 1, 247), Support::No),
        (CliFeature::VerbatimPrompts, (2, 1, 248), Support::Yes),
        (CliFeature::HookFailurePolicy, (2, 1, 310), Support::No),
        (CliFeature::HookFailurePolicy, (2, 1, 325), Support::Yes),
        (CliFeature::JsonSchema, (1, 0, 0), Support::No),
    ];
    for (feature, (major, minor, patch), expected) in table {
        let version = CliVersion::new(major, minor, patch);
        assert_eq!(
            feature.support(&version),
            expected,
            "{feature} in {version}"
        );
    }
    for feature in CliFeature::ALL {
        assert_eq!(
            feature.support(&TESTED_CLI_VERSION),
            Support::Yes,
            "{feature}"
        );
    }
}

/// A script in its own directory, which goes with the test.
struct Script {
    directory: tempfile::TempDir,
}

impl Script {
    fn new(body: &str) -> Self {
        let script = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        script.write(body);
        script
    }

    fn write(&self, body: &str) {
        // Written by another process and moved: a file this one has open for writing could be
        // held open by a child of another test, and then nothing may run it.
        let script =
            "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\" && chmod +x \"$2\" && mv \"$2\" \"$3\"";
        let written = std::process::Command::new("/bin/sh")
            .args(["-c", script, "sh", body])
            .args([self.beside("fresh"), self.path()])
            .status();
        assert!(written.unwrap().success());
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("claude")
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

async fn ask(path: &Path) -> Result<CliVersion, VersionProblem> {
    match version_of(path, Duration::from_secs(10)).await {
        Err(Error::CliVersion { problem, .. }) => Err(problem),
        other => Ok(other.unwrap()),
    }
}

#[tokio::test]
async fn each_way_to_fail_is_told_apart() {
    let failing = Script::new("echo broken; exit 3");
    let talking = Script::new("echo hello");
    let silent = Script::new("exit 0");
    let problem = ask(&failing.path()).await.unwrap_err();
    assert!(matches!(&problem, VersionProblem::Failed { output, .. } if output == "broken"));
    let problem = ask(&talking.path()).await.unwrap_err();
    assert!(
        matches!(problem, VersionProblem::Unreadable(_)),
        "{problem}"
    );
    let problem = ask(&silent.path()).await.unwrap_err();
    assert!(
        matches!(problem, VersionProblem::Unreadable(_)),
        "{problem}"
    );
    let problem = ask(Path::new("/nonexistent/claude")).await.unwrap_err();
    assert!(matches!(problem, VersionProblem::Run(_)), "{problem}");
}

#[tokio::test]
async fn an_executable_that_hangs_is_stopped_with_its_children() {
    let script = Script::new("echo $$ > \"$(dirname \"$0\")/pid\"; sleep 600 & sleep 600");
    let started = Instant::now();
    let outcome = version_of(&script.path(), Duration::from_secs(3)).await;
    let Err(Error::CliVersion { problem, .. }) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(matches!(problem, VersionProblem::TimedOut(_)), "{problem}");
    assert!(started.elapsed() < Duration::from_secs(30));
    let group = std::fs::read_to_string(script.beside("pid")).unwrap();
    let group = rustix::process::Pid::from_raw(group.trim().parse().unwrap()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while rustix::process::test_kill_process_group(group).is_ok() {
        assert!(Instant::now() < deadline, "the group still lives");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn endless_output_does_not_fill_the_memory() {
    let script = Script::new("yes 2.1.325");
    let problem = version_of(&script.path(), Duration::from_secs(10)).await;
    // Its output is closed after a few kilobytes, which ends it.
    assert!(
        matches!(problem, Err(Error::CliVersion { .. })),
        "{problem:?}"
    );
}

#[tokio::test]
async fn a_file_is_asked_once_until_it_changes() {
    let count = "echo x >> \"$(dirname \"$0\")/calls\"";
    let script = Script::new(&format!("{count}; echo 2.1.1"));
    for _ in 0..3 {
        assert_eq!(ask(&script.path()).await.unwrap(), CliVersion::new(2, 1, 1));
    }
    script.write(&format!("{count}; echo 2.1.22"));
    assert_eq!(
        ask(&script.path()).await.unwrap(),
        CliVersion::new(2, 1, 22)
    );
    let calls = std::fs::read_to_string(script.beside("calls")).unwrap();
    assert_eq!(calls.lines().count(), 2);
}
