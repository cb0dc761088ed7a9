//! The page in a real browser, against the real server with scripted engines.
//!
//! What is done in the browser is written in JavaScript, in `tests/browser/`: Node drives
//! Chromium, and starts and kills the server, which is this executable once more.

mod stage;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::page::{node, required};

/// Runs one file of `tests/browser/` and shows what it said if it failed.
#[track_caller]
fn run(file: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let artefacts = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    std::fs::create_dir_all(&artefacts).unwrap();
    let output = Command::new(node())
        .args(["--test", "--test-reporter=spec", "--test-concurrency=1"])
        .arg(folder.join(file))
        .env("FALCONER_BROWSER_KIT", required("FALCONER_BROWSER_KIT"))
        .env("FALCONER_CHROMIUM", chromium())
        .env("FALCONER_STAGE", std::env::current_exe().unwrap())
        .env("FALCONER_PAGE_ARTEFACTS", &artefacts)
        .env_remove("NODE_OPTIONS")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(
        said.contains("fail 0") && !said.contains("pass 0"),
        "{said}"
    );
}

fn chromium() -> PathBuf {
    match std::env::var_os("FALCONER_CHROMIUM") {
        Some(path) => path.into(),
        None => PathBuf::from("/usr/bin/chromium"),
    }
}

#[test]
fn failed_and_interrupted_turns_are_seen_and_gone_on_from() {
    run("trouble.test.mjs");
}

#[test]
fn sessions_are_started_followed_and_talked_to() {
    run("sessions.test.mjs");
}

#[test]
fn permissions_questions_and_plans_are_answered() {
    run("approvals.test.mjs");
}

#[test]
fn presses_count_only_on_what_was_seen() {
    run("guard.test.mjs");
}

#[test]
fn what_agents_write_is_text_and_nothing_else() {
    run("hostile.test.mjs");
}

#[test]
fn images_of_tools_are_shown_and_what_only_says_so_is_not() {
    run("images.test.mjs");
}

#[test]
fn the_keyboard_is_enough_and_everybody_can_use_it() {
    run("access.test.mjs");
}

#[test]
fn reloads_and_a_killed_server_change_nothing_one_sees() {
    run("reloads.test.mjs");
}

#[test]
fn the_connection_is_told_as_it_is() {
    run("connection.test.mjs");
}

#[test]
fn bypass_mode_cannot_be_overlooked() {
    run("bypass.test.mjs");
}

#[test]
fn who_does_not_look_is_told() {
    run("notify.test.mjs");
}

#[test]
fn every_state_has_a_picture() {
    run("pictures.test.mjs");
}
