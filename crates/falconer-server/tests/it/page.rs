//! The code of the page without a browser: its types, and its reducer over recorded sessions.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use falconer_event::{End, Event, Ledger, Normaliser, Run, RunId, Sequence};
use serde_json::Value;

pub(crate) fn required(variable: &str) -> PathBuf {
    let value = std::env::var_os(variable).map(PathBuf::from);
    value.unwrap_or_else(|| {
        panic!("{variable} is not set; `cargo xtask test` installs what it names")
    })
}

pub(crate) fn node() -> PathBuf {
    std::env::var_os("FALCONER_NODE").map_or_else(|| "node".into(), PathBuf::from)
}

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn assert_success(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
}

#[test]
fn the_types_of_the_page_are_checked_strictly() {
    let compiler = required("FALCONER_BROWSER_KIT").join("node_modules/typescript/bin/tsc");
    let output = Command::new(node())
        .arg(compiler)
        .args(["--project", "tests/page/tsconfig.json"])
        .current_dir(manifest())
        .output();
    assert_success(&output.unwrap());
}

/// `FALCONER_README_PICTURE` makes the test of the pictures take it anew.
#[test]
fn the_picture_in_the_readme_is_there_and_small() {
    let root = manifest().join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let place = "docs/images/page.png";
    assert!(readme.contains(&format!("]({place})")), "{place}");
    let picture = std::fs::read(root.join(place)).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    assert!(picture.len() < 200_000, "{} bytes", picture.len());
}

#[test]
fn the_reducer_tells_recorded_sessions_as_the_snapshots_do() {
    let logs = tempfile::tempdir().unwrap();
    let mut count = 0;
    for file in std::fs::read_dir(manifest().join("../../fixtures/cassettes")).unwrap() {
        let path = file.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            write_log(&path, logs.path());
            count += 1;
        }
    }
    assert!(count > 200, "only {count} recorded sessions");
    let output = Command::new(node())
        .args([
            "--test",
            "--test-reporter=spec",
            "tests/page/modules.test.mjs",
            "tests/page/reducer.test.mjs",
            "tests/page/state.test.mjs",
        ])
        .env("FALCONER_EVENT_LOGS", logs.path())
        .env(
            "FALCONER_EVENT_SNAPSHOTS",
            manifest().join("../falconer-event/tests/snapshots"),
        )
        .current_dir(manifest())
        .output();
    assert_success(&output.unwrap());
}

/// The events of a recorded session, numbered, a line each.
fn write_log(cassette: &Path, folder: &Path) {
    let text = std::fs::read_to_string(cassette).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let said = lines.filter(|line| line["dir"] == "out" && line["line"].is_object());
    let mut normaliser = Normaliser::new(Run::default());
    let mut drafts = Vec::new();
    for line in said {
        let message = serde_json::from_value(line["line"].clone()).unwrap();
        drafts.extend(normaliser.message(&message));
    }
    drafts.extend(normaliser.finish());
    let mut ledger = Ledger::default();
    drafts.iter().for_each(|draft| ledger.observe(draft));
    drafts.extend(ledger.end(End::default()));
    let mut sequence = Sequence::new("recorded");
    let run = RunId::from("run");
    let stamped = drafts
        .into_iter()
        .map(|draft| sequence.stamp(&run, "2026-11-15T12:00:00Z", draft));
    let lines: Vec<String> = stamped
        .map(|event: Event| serde_json::to_string(&event).unwrap())
        .collect();
    let name = cassette.file_name().unwrap();
    std::fs::write(folder.join(name), lines.join("\n")).unwrap();
}
