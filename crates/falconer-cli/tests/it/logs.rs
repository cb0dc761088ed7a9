//! Logs of both executables: where they go, what they hold, and what they never hold.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{Place, Ran, run};
use crate::server_process::Server;

const PROMPT: &str = "canary-prompt-0001";
const INPUT: &str = "canary-input-0002";
const OUTPUT: &str = "canary-output-0003";
const SECRET: &str = "planted-log-key-0004";

/// A run in which a prompt, a call and its output could be logged, after the store was left open
/// to others, which is warned about.
fn falconer(place: &Place, flags: &[&str]) -> Ran {
    let scenario = place.path().join("scenario.json");
    let command = format!("printf '%s-%s' canary output-0003 # {INPUT}");
    let call = json!({"type": "tool_use", "name": "Bash", "input": {"command": command}});
    let rules = json!({"rules": [
        {"reply": {"message": {"content": [call]}}},
        {"times": "always", "reply": {"text": "done"}}]});
    std::fs::write(&scenario, rules.to_string()).unwrap();
    let store = place.path().join("state/falconer.db");
    let once = || {
        let mut command = place.falconer();
        command.env("FALCONER_STATE_DIR", place.path().join("state"));
        command.env("ANTHROPIC_API_KEY", SECRET);
        command.args([
            "run",
            PROMPT,
            "--engine=script",
            "--allow=Bash",
            "--scenario",
        ]);
        run(command.arg(&scenario).args(flags), "")
    };
    if !store.exists() {
        once();
    }
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = once();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("done"), "{ran:?}");
    ran
}

const WARNED: &str = "others could read the store";

#[test]
fn warnings_are_on_stderr_and_nothing_else_is() {
    let place = Place::new();
    let ran = falconer(&place, &["--quiet"]);
    let warned = format!("warning: {WARNED}");
    assert!(ran.stderr.starts_with(&warned), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    let ran = falconer(&place, &["--quiet", "--log=off"]);
    assert_eq!(ran.stderr, "");
}

#[test]
fn more_is_logged_on_request_and_no_prompt_input_or_output_above_debug() {
    let place = Place::new();
    for level in ["-v", "-vv", "-vvv"] {
        let file = place.path().join(format!("{level}.log"));
        let named = format!("--log-file={}", file.display());
        let ran = falconer(&place, &["--quiet", level, &named, "--log-format=json"]);
        assert_eq!(ran.stderr, "", "{level}");
        let log = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<Value> = log
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let has = |text: &str| {
            lines
                .iter()
                .any(|line| line["message"].as_str() == Some(text))
        };
        assert!(log.contains(WARNED), "{level}: {log}");
        assert_eq!(has("a tool has run"), level != "-v", "{level}: {log}");
        assert!(!log.contains(SECRET), "{level}: {log}");
        if level == "-v" {
            for canary in [PROMPT, INPUT, OUTPUT] {
                assert!(!log.contains(canary), "{canary}: {log}");
            }
        }
    }
}

#[test]
fn a_filter_that_cannot_be_read_is_refused() {
    let place = Place::new();
    let ran = run(
        place.falconer().args(["--log=x=loud", "sessions", "list"]),
        "",
    );
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.contains("invalid log filter `x=loud`"),
        "{ran:?}"
    );
}

#[test]
fn a_server_keeps_a_log_that_only_its_owner_reads() {
    let place = Place::new();
    let state = place.path().join("state");
    let mut command = place.falconer();
    command.env("FALCONER_STATE_DIR", &state);
    command.args(["serve", "--listen=127.0.0.1:0"]);
    let server = Server::start(&mut command, &state);
    let log = state.join("serve.log");
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("INFO falconer::serve: listening"), "{text}");
    assert!(!text.contains(&server.token), "{text}");
    let mode = std::fs::metadata(&log).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// `falconer-claude` with one call of a tool, and its debug file if it is where it should be.
fn claude(place: &Place, flags: &[&str], variables: &[(&str, &str)]) -> (Ran, Option<String>) {
    const ID: &str = "bbbbbbbb-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    let call = json!({"type": "tool_use", "name": "Bash", "input": {"command": "echo hi"}});
    let rules = json!({"rules": [
        {"reply": {"message": {"content": [call]}}},
        {"times": "always", "reply": {"text": "done"}}]});
    let mut command = place.scripted(&rules.to_string());
    command.args([
        "-p",
        PROMPT,
        "--allowedTools=Bash",
        "--no-session-persistence",
    ]);
    command.arg(format!("--session-id={ID}")).args(flags);
    command.env("ANTHROPIC_API_KEY", SECRET);
    let ran = run(command.envs(variables.iter().copied()), "");
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "done\n"),
        "{ran:?}"
    );
    let file = place.path().join(format!("home/.claude/debug/{ID}.txt"));
    (ran, take(&file))
}

/// The text of a file, which is gone afterwards.
fn take(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    std::fs::remove_file(file).unwrap();
    Some(text)
}

#[test]
fn debug_flags_of_the_drop_in_write_where_the_official_cli_does() {
    let place = &Place::new();
    let (ran, file) = claude(place, &[], &[]);
    assert_eq!((ran.stderr.as_str(), file), ("", None));
    for (flags, variables) in [
        (&["--debug"][..], &[][..]),
        (&["--debug=api"], &[]),
        (&[], &[("DEBUG", "1")]),
    ] {
        let (ran, file) = claude(place, flags, variables);
        assert_eq!(ran.stderr, "", "{flags:?}");
        let text = file.unwrap_or_else(|| panic!("{flags:?} {variables:?}"));
        assert!(
            text.contains("Z [DEBUG] a tool has run tool=Bash"),
            "{text}"
        );
        assert!(!text.contains(SECRET), "{text}");
        assert!(place.path().join("home/.claude/debug/latest").is_symlink());
    }
    let (ran, file) = claude(place, &["--debug-file=deep/own.log"], &[]);
    assert_eq!((ran.stderr.as_str(), file), ("", None));
    let own = take(&place.path().join("work/deep/own.log")).unwrap();
    assert!(own.contains("[DEBUG] falconer-claude starts"), "{own}");
    let (ran, file) = claude(place, &["--debug-to-stderr"], &[]);
    assert!(
        ran.stderr.contains("[DEBUG] falconer-claude starts"),
        "{ran:?}"
    );
    assert_eq!(file, None);
}

#[test]
fn a_debug_file_that_cannot_be_written_is_said_and_the_run_goes_on() {
    let (ran, _) = claude(&Place::new(), &["--debug-file=/dev/null/x"], &[]);
    assert!(
        ran.stderr.starts_with("Warning: no debug log is written"),
        "{ran:?}"
    );
}
