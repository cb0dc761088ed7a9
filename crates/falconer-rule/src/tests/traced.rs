//! What is allowed, run by a real shell in which every program only tells how it was started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::*;
use serde_json::json;

use super::rules;
use crate::{Call, Effect, Outcome, judge};

/// Programs of the shell's only directory; each appends its words to a file.
const PROGRAMS: &[&str] = &[
    "git", "make", "npm", "tar", "find", "sed", "cp", "cat", "rm", "touch", "env", "timeout",
    "nice", "nohup", "xargs", "sh", "sudo", "EVIL",
];

const RULES: &[&str] = &[
    "Bash(git *)",
    "Bash(git status)",
    "Bash(make:*)",
    "Bash(npm run test:*)",
    "Bash(tar:*)",
    "Bash(find *)",
    "Bash(sed:*)",
    "Bash(cp:*)",
    "Bash(cat *)",
    "Bash(touch a)",
    "Bash(rm x)",
];

const PIECES: &[&str] = &[
    "git ",
    "git status",
    "make ",
    "npm run test",
    "tar xf a",
    "find . ",
    "sed p a",
    "cp a b",
    "cat ",
    "rm x",
    "touch a",
    "EVIL",
    " EVIL ",
    "env ",
    "timeout 5 ",
    "nice ",
    "nohup ",
    "xargs ",
    "sh -c ",
    "sudo ",
    "A=1 ",
    "'",
    "\"",
    "\\",
    "\\\n",
    "\n",
    " ",
    " ",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "`",
    "$x",
    "${x}",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<<",
    "< a",
    "> /dev/null",
    "2>&1",
    "<&0 ",
    "<(",
    "#",
    "!",
    "=",
    "[[ ",
    " ]]",
    "if ",
    "; then ",
    "; fi",
    "for x in a; do ",
    "; done",
    "f() ",
    "$'",
    "*",
    "~",
    "-exec EVIL ';'",
    "-c ",
    "--",
];

struct Trap {
    directory: tempfile::TempDir,
    shell: PathBuf,
}

impl Trap {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let bin = directory.path().join("bin");
        fs::create_dir(&bin).expect("a directory");
        let script =
            "#!/bin/sh\n{ printf '%s\\0' \"${0##*/}\" \"$@\"; printf '\\n\\0'; } >> \"$TRACE\"\n";
        for program in PROGRAMS {
            let path = bin.join(program);
            fs::write(&path, script).expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        fs::create_dir(directory.path().join("work")).expect("a directory");
        fs::write(directory.path().join("work/a"), "").expect("a file");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places = std::env::split_paths(&path).map(|place| place.join("bash"));
        let shell = places
            .find(|place| place.exists())
            .expect("bash on the PATH");
        Self { directory, shell }
    }

    fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// The words of every program that the shell starts.
    fn run(&self, command: &str) -> Vec<Vec<String>> {
        // One for each run: what a run leaves behind must not speak in the next.
        let file = tempfile::NamedTempFile::new_in(self.directory.path()).expect("a file");
        let trace = file.path();
        let status = Command::new(&self.shell)
            .args(["--norc", "--noprofile", "-c", command])
            .env_clear()
            .env("PATH", self.directory.path().join("bin"))
            .env("TRACE", trace)
            .current_dir(self.work())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.is_ok(), "{status:?}");
        let text = fs::read(trace).expect("a trace");
        let text = String::from_utf8_lossy(&text).into_owned();
        let runs = text.split("\n\0").filter(|run| !run.is_empty());
        runs.map(|run| {
            run.trim_end_matches('\0')
                .split('\0')
                .map(str::to_owned)
                .collect()
        })
        .collect()
    }
}

fn is_allowed(allowing: &[&str], cwd: &Path, command: &str) -> bool {
    let allowing: Vec<_> = allowing.iter().map(|rule| (Effect::Allow, *rule)).collect();
    let input = json!({ "command": command });
    judge(&rules(&allowing), &Call::new("Bash", &input, cwd)).effect == Outcome::Allow
}

/// The command of one program, as somebody would write it.
fn quoted(words: &[String]) -> String {
    let is_plain = |word: &String| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_./=-".contains(&byte))
    };
    let words = words.iter().map(|word| {
        if is_plain(word) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Wrappers that rules look through start what they are given.
fn bare(words: &[String]) -> &[String] {
    match words {
        [wrapper, rest @ ..] if wrapper == "nohup" || wrapper == "nice" => bare(rest),
        [wrapper, seconds, rest @ ..] if wrapper == "timeout" && seconds == "5" => bare(rest),
        [wrapper, rest @ ..] if wrapper == "env" => bare(rest),
        _ => words,
    }
}

#[test]
fn the_trap_sees_what_is_started() {
    let trap = Trap::new();
    let seen = trap.run("git status; x=$(EVIL 'a b'); cat < a | make");
    let mut names: Vec<String> = seen.iter().map(|words| words.join("+")).collect();
    names.sort();
    assert_eq!(names, ["EVIL+a b", "cat", "git+status", "make"]);
}

#[test]
fn every_program_that_an_allowed_command_starts_is_allowed() {
    let trap = Trap::new();
    let config = ProptestConfig {
        cases: 6_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 1..8);
    let allowing = prop::sample::subsequence(RULES, 1..=RULES.len());
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let outcome = runner.run(&(pieces, allowing), |(pieces, allowing)| {
        let command = pieces.concat();
        if !is_allowed(&allowing, &trap.work(), &command) {
            return Ok(());
        }
        for words in trap.run(&command) {
            let started = quoted(bare(&words));
            let is_fine = is_allowed(&allowing, &trap.work(), &started);
            prop_assert!(
                is_fine,
                "{:?} starts {:?} by {:?}",
                command,
                words,
                allowing
            );
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
