//! `falconer doctor` on machines that lack one thing each.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::program::{Place, Ran, run};

const KEY: (&str, &str) = ("ANTHROPIC_API_KEY", "sk-ant-secret-of-doctor");

fn doctor(place: &Place, change: impl FnOnce(&mut Command)) -> (Ran, Value) {
    let mut command = place.falconer();
    command.args(["doctor", "--json"]).envs([KEY]);
    change(&mut command);
    let ran = run(&mut command, "");
    assert!(!ran.stdout.contains("secret-of-doctor"), "{}", ran.stdout);
    let report = serde_json::from_str(&ran.stdout).unwrap_or_default();
    (ran, report)
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap()
}

fn cli(place: &Place, says: &str) -> String {
    let path = place.path().join("claude");
    std::fs::write(&path, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn a_machine_with_a_key_is_fine_and_nothing_is_left_behind() {
    let place = Place::new();
    let (ran, report) = doctor(&place, |_| ());
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(report["ok"], true);
    assert_eq!(
        check(&report, "account")["text"],
        "variable ANTHROPIC_API_KEY (billed: api)"
    );
    assert_eq!(check(&report, "model")["state"], "skipped");
    for check in report["checks"].as_array().unwrap() {
        let needs_fix = matches!(check["state"].as_str(), Some("failed" | "warning"));
        assert_eq!(needs_fix, check["fix"].is_string(), "{check}");
    }
    let ran = run(place.falconer().arg("doctor").envs([KEY]), "");
    assert!(ran.stdout.contains("falconer run"), "{}", ran.stdout);
}

#[test]
fn what_is_missing_fails_with_a_fix() {
    type Change<'a> = Box<dyn FnOnce(&Place, &mut Command) + 'a>;
    let table: Vec<(&str, &str, &str, Change<'_>)> = vec![
        (
            "account",
            "failed",
            "nothing to authenticate",
            Box::new(|_, command| {
                command.env_remove("ANTHROPIC_API_KEY");
            }),
        ),
        (
            "engine",
            "failed",
            "no engine",
            Box::new(|_, command| {
                command.env_remove("ANTHROPIC_API_KEY");
            }),
        ),
        (
            "account",
            "failed",
            "nothing to authenticate",
            Box::new(|_, command| {
                command.env("ANTHROPIC_API_KEY", "wrong");
            }),
        ),
        (
            "claude",
            "failed",
            "/nowhere/claude",
            Box::new(|_, command| {
                command.env("FALCONER_CLAUDE_PATH", "/nowhere/claude");
            }),
        ),
        (
            "claude",
            "failed",
            "older than",
            Box::new(|place, command| {
                command.env("FALCONER_CLAUDE_PATH", cli(place, "1.0.3 (Claude Code)"));
            }),
        ),
        (
            "claude",
            "failed",
            "version",
            Box::new(|place, command| {
                command.env("FALCONER_CLAUDE_PATH", cli(place, "I am no version"));
            }),
        ),
        (
            "claude",
            "warning",
            "newer than",
            Box::new(|place, command| {
                command.env("FALCONER_CLAUDE_PATH", cli(place, "99.0.0 (Claude Code)"));
            }),
        ),
        (
            "claude",
            "ok",
            "2.1.300",
            Box::new(|place, command| {
                command.env("FALCONER_CLAUDE_PATH", cli(place, "2.1.300 (Claude Code)"));
            }),
        ),
        (
            "configuration",
            "failed",
            "FALCONER_RUN__MODEL",
            Box::new(|_, command| {
                command.env("FALCONER_RUN__MODLE", "x");
            }),
        ),
        (
            "state",
            "failed",
            "cannot write",
            Box::new(|place, command| {
                let file = place.path().join("file");
                std::fs::write(&file, "").unwrap();
                command.env("FALCONER_STATE_DIR", file);
            }),
        ),
        (
            "locks",
            "failed",
            "",
            Box::new(|place, command| {
                let file = place.path().join("file");
                std::fs::write(&file, "").unwrap();
                command.env("FALCONER_STATE_DIR", file);
            }),
        ),
        (
            "sandbox",
            "warning",
            "bwrap cannot be started",
            Box::new(|_, command| {
                command.env("PATH", "/nowhere");
            }),
        ),
    ];
    for (name, state, text, change) in table {
        let place = Place::new();
        let (ran, report) = doctor(&place, |command| change(&place, command));
        let found = check(&report, name);
        assert_eq!(found["state"], state, "{name}: {found}");
        assert!(
            found["text"].as_str().unwrap().contains(text),
            "{name}: {found}"
        );
        assert_eq!(
            ran.code,
            Some(if report["ok"] == true { 0 } else { 3 }),
            "{name}"
        );
        assert_eq!(report["ok"], state != "failed", "{name}: {}", ran.stdout);
    }
}

#[test]
fn a_port_in_use_by_others_is_told() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Says something else than our server would, and closes.
    let other = std::thread::spawn(move || {
        if let Ok((mut stream, _)) = listener.accept() {
            let _ = std::io::Write::write_all(&mut stream, b"220 mail ready\r\n");
        }
    });
    let (_, report) = doctor(&Place::new(), |command| {
        command.env("FALCONER_SERVER__URL", format!("http://{address}"));
    });
    assert_eq!(check(&report, "server")["state"], "warning", "{report}");
    other.join().unwrap();
}

#[test]
fn online_asks_the_model() {
    let server = falconer_testkit::ApiServer::start(
        falconer_testkit::scenario::Scenario::new().turn(falconer_testkit::scenario::text("ready")),
    )
    .unwrap();
    let (ran, report) = doctor(&Place::new(), |command| {
        command
            .arg("--online")
            .env("ANTHROPIC_BASE_URL", server.url());
    });
    assert_eq!(
        check(&report, "model")["state"],
        "ok",
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let dead = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let (ran, report) = doctor(&Place::new(), |command| {
        command
            .arg("--online")
            .env("ANTHROPIC_BASE_URL", format!("http://{dead}"))
            .env("CLAUDE_CODE_MAX_RETRIES", "0");
    });
    assert_eq!(check(&report, "model")["state"], "failed", "{}", ran.stdout);
    assert_eq!(ran.code, Some(3));
}
