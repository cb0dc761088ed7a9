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

/// A directory with these programs and nothing else, for the path.
fn programs(place: &Place, scripts: &[(&str, &str)]) -> String {
    let folder = place.path().join("programs");
    std::fs::create_dir(&folder).unwrap();
    for (name, script) in scripts {
        let path = folder.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    folder.display().to_string()
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
            "no credentials found",
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
            "no credentials found",
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
        (
            "sandbox",
            "warning",
            "bwrap does not work: not allowed here",
            Box::new(|place, command| {
                let path = programs(place, &[("bwrap", "echo not allowed here >&2; exit 1")]);
                command.env("PATH", path);
            }),
        ),
        (
            "sandbox",
            "warning",
            "socat is not installed",
            Box::new(|place, command| {
                command.env("PATH", programs(place, &[("bwrap", "exit 0")]));
            }),
        ),
        (
            "sandbox",
            "ok",
            "socat is installed",
            Box::new(|place, command| {
                let path = programs(place, &[("bwrap", "exit 0"), ("socat", "exit 0")]);
                command.env("PATH", path);
            }),
        ),
        ("store", "ok", "none yet", Box::new(|_, _| ())),
        (
            "store",
            "warning",
            "is damaged",
            Box::new(|place, _| {
                let state = place.path().join("home/.local/state/falconer");
                std::fs::create_dir_all(&state).unwrap();
                std::fs::write(state.join("falconer.db"), "no database at all").unwrap();
            }),
        ),
        (
            "sessions",
            "failed",
            "cannot write",
            Box::new(|place, command| {
                let file = place.path().join("file");
                std::fs::write(&file, "").unwrap();
                command.env("CLAUDE_CONFIG_DIR", file);
            }),
        ),
        (
            "temporary files",
            "failed",
            "cannot write",
            Box::new(|place, command| {
                let file = place.path().join("file");
                std::fs::write(&file, "").unwrap();
                command.env("TMPDIR", file);
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
        let needs_fix = matches!(state, "failed" | "warning");
        assert_eq!(found["fix"].is_string(), needs_fix, "{name}: {found}");
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

#[test]
fn a_full_disk_is_told() {
    let place = Place::new();
    let small = crate::faults::Small::at(&place.path().join("small"));
    // Only root can have a file system that is nearly full.
    if !small.is_mounted() {
        return;
    }
    let (ran, report) = doctor(&place, |command| {
        command.env("FALCONER_STATE_DIR", place.path().join("small/state"));
    });
    let disk = check(&report, "disk");
    assert_eq!(disk["state"], "failed", "{disk}");
    assert!(disk["fix"].is_string(), "{disk}");
    assert_eq!(ran.code, Some(3));
}

#[test]
fn a_store_whose_server_died_is_told_with_what_to_do() {
    use crate::hosted::Hosted;
    let place = Place::new();
    let model = r#"{ "rules": [ { "reply": { "message": { "content": [ { "type": "tool_use",
        "name": "Bash", "input": { "command": "touch x" } } ] } } } ] }"#;
    let server = Hosted::start(&place, model);
    let session = server.session(Some("go"));
    server.until_state(&session, "waiting");
    let (_, report) = doctor(&place, |_| ());
    let store = check(&report, "store");
    assert_eq!(store["state"], "ok", "{store}");
    assert!(
        store["text"]
            .as_str()
            .unwrap()
            .contains("1 request waiting"),
        "{store}"
    );
    let running = store["details"][0].as_str().unwrap();
    assert!(running.ends_with("runs 1 session"), "{store}");
}

#[test]
fn locks_of_runs_that_were_killed_are_removed_and_told() {
    let place = Place::new();
    let model = r#"{ "rules": [ { "reply": { "message": { "content": [ { "type": "tool_use",
        "name": "Bash", "input": { "command": "echo begun; sleep 600" } } ] } } } ] }"#;
    std::fs::write(place.path().join("work/model.json"), model).unwrap();
    let mut command = place.falconer();
    command.args([
        "run",
        "go",
        "--engine",
        "script",
        "--scenario",
        "model.json",
        "--allow",
        "Bash",
    ]);
    let mut running = crate::program::start(&mut command);
    let locks = place.path().join("home/.local/state/falconer/locks");
    let count = || std::fs::read_dir(&locks).map_or(0, Iterator::count);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let (ran, report) = loop {
        assert!(
            std::time::Instant::now() < deadline,
            "it never locked anything"
        );
        // The lock is there when somebody holds it.
        let (ran, report) = doctor(&place, |_| ());
        if check(&report, "locks")["text"]
            .as_str()
            .unwrap()
            .contains("1 session in use")
        {
            break (ran, report);
        }
    };
    assert_eq!(ran.code, Some(0), "{report}");
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(count() > 0);
    let (_, report) = doctor(&place, |_| ());
    let found = check(&report, "locks");
    assert_eq!(found["state"], "ok", "{found}");
    let text = found["text"].as_str().unwrap();
    assert!(
        text.contains("removed what a killed run left behind"),
        "{found}"
    );
    assert_eq!(count(), 0, "{found}");
}
