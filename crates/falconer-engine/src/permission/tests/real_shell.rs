//! The parser against a real shell: what is allowed must not run anything else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::{Outcome, Project};

/// Pieces of which commands are made. `EVIL` is a program that leaves a mark.
const PIECES: &[&str] = &[
    "echo ",
    "echo a",
    " ",
    " ",
    ";",
    "#",
    "\\",
    "\n",
    "'",
    "\"",
    "$(",
    ")",
    "`",
    "EVIL",
    "EVIL",
    " EVIL ",
    "&&",
    "|",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "{",
    "}",
    "${",
    "$((",
    "))",
    "(",
    "$",
    "!",
    "&",
    "a",
    "\t",
    "$'",
    "<(",
    "[[ ",
    " ]]",
    "if ",
    "; then ",
    "; fi",
    "<<<",
    "case a in a)",
    ";; esac",
    "\\\n",
    "=",
    "[",
    "]",
    "*",
    "~",
    "<<-E\n",
    "\\'",
    "\\\"",
    ",",
    "x=",
    "time ",
    "E",
    "2>&1",
    "/dev/null",
    ">",
    "for a in ",
    "; do ",
    "; done",
    "f()",
];

/// A directory in which `EVIL` is the only program.
fn trap() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("EVIL");
    fs::write(&program, "#!/bin/sh\n: > \"${0%/*}/mark\"\n").expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    directory
}

/// Whether a real shell runs the program.
fn runs_evil(shell: &Path, directory: &Path, command: &str) -> bool {
    let mark = directory.join("mark");
    let _ = fs::remove_file(&mark);
    let status = Command::new(shell)
        .args(["--norc", "--noprofile", "-c", command])
        .env_clear()
        .env("PATH", directory)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.is_ok(), "no shell at {}", shell.display());
    mark.exists()
}

fn bash() -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|directory| directory.join("bash"));
    places
        .find(|place| place.exists())
        .expect("bash on the PATH")
}

#[test]
fn an_allowed_command_runs_nothing_else() {
    let (directory, bash) = (trap(), bash());
    assert!(
        runs_evil(&bash, directory.path(), "echo $(EVIL)"),
        "the trap works"
    );
    let project = Project::new().allow("Bash(echo *)").allow("Bash(echo:*)");
    let config = ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 1..10);
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let outcome = runner.run(&pieces, |pieces| {
        let command = format!("echo {}", pieces.concat());
        if command.contains("EVIL") && project.command(&command) == Outcome::Allow {
            prop_assert!(
                !runs_evil(&bash, directory.path(), &command),
                "{:?}",
                command
            );
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
