//! Logs of both executables: where they go, what they hold, and what they never hold.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use falconer_testkit::{EngineScript, FakeEngine};
use serde_json::{Value, json};

use crate::program::{Place, Ran, run};
use crate::server_process::Server;
use crate::terminal::Terminal;

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
        for told in ["a run started", "a run ended"] {
            assert!(has(told), "{told} at {level}: {log}");
        }
        assert_eq!(has("a tool has run"), level != "-v", "{level}: {log}");
        assert!(!log.contains(SECRET), "{level}: {log}");
        if level == "-v" {
            for canary in [PROMPT, INPUT, OUTPUT] {
                assert!(!log.contains(canary), "{canary}: {log}");
            }
        }
    }
}

/// The configuration says what is logged, and where; flags say more.
#[test]
fn the_configuration_names_level_file_and_format() {
    let place = Place::new();
    let config = place.path().join("home/.config/falconer");
    std::fs::create_dir_all(&config).unwrap();
    let file = place.path().join("own.log");
    let write = |filter: &str| {
        let text = format!(
            "version = 1\n[log]\nfilter = \"{filter}\"\nfile = {:?}\nformat = \"json\"\n",
            file.display().to_string()
        );
        std::fs::write(config.join("config.toml"), text).unwrap();
    };
    write("falconer_engine=debug");
    let ran = falconer(&place, &["--quiet"]);
    assert_eq!(ran.stderr, "");
    let log = take(&file).unwrap();
    assert!(
        log.contains("a tool has run") && !log.contains(WARNED),
        "{log}"
    );
    assert!(
        log.lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok()),
        "{log}"
    );

    let other = place.path().join("other.log");
    let named = format!("--log-file={}", other.display());
    falconer(&place, &["--quiet", "-v", "--log-format=text", &named]);
    assert_eq!(take(&file), None, "the flag names another file");
    let log = take(&other).unwrap();
    assert!(
        log.contains("INFO falconer_session::session::journal: a run ended"),
        "{log}"
    );
    assert!(
        !log.contains("a tool has run"),
        "-v counts more than the file: {log}"
    );

    write("x=loud");
    let mut command = place.falconer();
    let ran = run(command.args(["sessions", "list"]), "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.contains("invalid log filter `x=loud`"),
        "{ran:?}"
    );
}

/// Who was asked what, and who answered: by id, so that one can be found with the other.
#[test]
fn requests_are_logged_with_their_ids_and_without_their_content() {
    let place = Place::new();
    let mut terminal = asking(&place, "run go -v --log-format=json");
    let mut log = String::new();
    for _ in 0..2 {
        log += &terminal.up_to(PROMPTED);
        terminal.type_in("n\r");
        log += "\n";
    }
    log += &terminal.rest();
    let lines: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str(line.get(line.find('{')?..)?.trim()).ok())
        .collect();
    let ids = |message: &str| -> Vec<String> {
        let told = lines.iter().filter(|line| line["message"] == message);
        let mut ids: Vec<_> = told
            .map(|line| line["fields"]["request"].to_string())
            .collect();
        ids.sort();
        ids
    };
    let answered = ids("permission answered");
    assert_eq!(answered.len(), 2, "{log}");
    assert!(answered.iter().all(|id| id.len() > 4), "{answered:?}");
    assert_eq!(ids("permission asked"), answered, "{log}");
    assert!(!log.contains(INPUT), "{log}");
}

/// The end of the line on which an answer is typed.
const PROMPTED: &str = "[s]top: ";

/// Two files that are asked about at the same time.
fn asking(place: &Place, what: &str) -> Terminal {
    for name in ["one", "two"] {
        std::fs::write(place.path().join(name), INPUT).unwrap();
    }
    let read = |name: &str| {
        let path = place.path().join(name);
        json!({"type": "tool_use", "name": "Read", "input": {"file_path": path}})
    };
    let rules = json!({"rules": [
        {"reply": {"message": {"content": [read("one"), read("two")]}}},
        {"times": "always", "reply": {"text": "done"}}]});
    let file = place.path().join("scenario.json");
    std::fs::write(&file, rules.to_string()).unwrap();
    let arguments = format!("{what} --engine=script --scenario={}", file.display());
    Terminal::start(place, &arguments, &[])
}

/// What a terminal shows after it was sent this: a line is written over from its beginning, and
/// may be cleared.
fn shown(sent: &str) -> Vec<String> {
    let moves = regex::Regex::new("\u{1b}\\[([0-9;?]*)([A-Za-z])|[^\u{1b}]").unwrap();
    let (mut lines, mut column) = (vec![Vec::new()], 0);
    for step in moves.captures_iter(sent) {
        let line = lines.last_mut().unwrap();
        match (step.get(2).map(|letter| letter.as_str()), &step[0]) {
            (Some("K"), _) if &step[1] == "2" => line.clear(),
            (Some("K"), _) => line.truncate(column),
            (Some(_), _) => {}
            (None, "\r") => column = 0,
            (None, "\n") => {
                lines.push(Vec::new());
                column = 0;
            }
            (None, text) => {
                if line.len() <= column {
                    line.resize(column + 1, ' ');
                }
                line[column] = text.chars().next().unwrap();
                column += 1;
            }
        }
    }
    lines.iter().map(|line| line.iter().collect()).collect()
}

/// The lines of the log among what is shown; each has a line of its own.
fn logged(lines: &[String]) -> Vec<&str> {
    let whole =
        regex::Regex::new("^[0-9]{4}-[0-9-]{5}T[0-9:.]{12}Z +(DEBUG|INFO|WARN) falconer").unwrap();
    let any = regex::Regex::new("(DEBUG|INFO|WARN) falconer").unwrap();
    let logged: Vec<&str> = lines
        .iter()
        .map(String::as_str)
        .filter(|line| any.is_match(line))
        .collect();
    for line in &logged {
        assert!(whole.is_match(line), "{line:?} in {lines:#?}");
    }
    logged
}

#[test]
fn log_lines_stand_above_the_line_that_moves() {
    let place = Place::new();
    let call = json!({"type": "tool_use", "name": "Bash",
        "input": {"command": "until [ -e go ]; do sleep 0.05; done"}});
    let rules = json!({"rules": [
        {"reply": {"message": {"content": [call]}}},
        {"times": "always", "reply": {"text": "All of it."}}]});
    let file = place.path().join("scenario.json");
    std::fs::write(&file, rules.to_string()).unwrap();
    let arguments = format!(
        "run go -vv --allow=Bash --engine=script --scenario={}",
        file.display()
    );
    let mut terminal = Terminal::start(&place, &arguments, &[]);
    // The line that moves has been drawn twice.
    let mut sent = terminal.up_to(" 1s ");
    std::fs::write(place.path().join("work/go"), "").unwrap();
    sent += &terminal.rest();
    let lines = shown(&sent);
    let logged = logged(&lines);
    assert!(
        logged.iter().any(|line| line.contains("a tool has run")),
        "{lines:#?}"
    );
    assert!(
        lines.iter().any(|line| line.trim() == "All of it."),
        "{lines:#?}"
    );
}

#[test]
fn log_lines_wait_while_a_question_is_open() {
    let place = Place::new();
    // The second file is asked about only when the first question is on the screen.
    let late = "if grep -q '/two\"'; then until [ -e go ]; do sleep 0.02; done; fi";
    let hooks = json!({"hooks": {"PreToolUse": [
        {"matcher": "Read", "hooks": [{"type": "command", "command": late}]}]}});
    let settings = place.path().join("home/.claude");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("settings.json"), hooks.to_string()).unwrap();
    let mut terminal = asking(&place, "run go -v");
    let mut sent = terminal.up_to(PROMPTED);
    std::fs::write(place.path().join("work/go"), "").unwrap();
    // The log has its line before the other process can see the request.
    until_two_are_asked(&place);
    assert_eq!(terminal.so_far(), "");
    terminal.type_in("n\r");
    // What a terminal shows of that is not shown here.
    sent += "n\r\n";
    sent += &terminal.up_to(PROMPTED);
    terminal.type_in("n\r");
    sent += "n\r\n";
    sent += &terminal.rest();
    let lines = shown(&sent);
    let logged = logged(&lines);
    let told = |what: &str| logged.iter().filter(|line| line.contains(what)).count();
    assert_eq!(
        (told("permission asked"), told("permission answered")),
        (2, 2),
        "{lines:#?}"
    );
}

/// Another process sees what is asked.
fn until_two_are_asked(place: &Place) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let listed = run(place.falconer().args(["sessions", "list", "--json"]), "");
        let rows: Value = serde_json::from_str(&listed.stdout).unwrap();
        if rows[0]["server"]["pending"] == 2 {
            return;
        }
        assert!(std::time::Instant::now() < deadline, "{rows:#}");
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
        (&[], &[("DEBUG_SDK", "1")]),
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

#[test]
fn a_version_of_the_cli_that_is_not_tested_is_warned_about() {
    for (version, told) in [
        ("2.1.999", Some("claude 2.1.999 is newer than")),
        ("2.1.100", Some("claude 2.1.100 is older than")),
        ("2.1.325", None),
    ] {
        let mut script = EngineScript::echo();
        version.clone_into(&mut script.version);
        let engine = FakeEngine::script(&script).unwrap();
        let place = Place::new();
        let mut command = place.falconer();
        command
            .envs(engine.env().iter().cloned())
            .env("FALCONER_CLAUDE_PATH", engine.program())
            .env("ANTHROPIC_API_KEY", "sk-ant-not-a-real-key-0123")
            .args(["run", "hi", "--engine=claude", "--no-store", "--json"]);
        let ran = run(&mut command, "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let warned: Vec<Value> = ran
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .filter(|event: &Value| event["type"] == "warning")
            .collect();
        let Some(told) = told else {
            assert_eq!((warned.len(), &*ran.stderr), (0, ""), "{ran:?}");
            continue;
        };
        assert!(ran.stderr.contains(&format!("warning: {told}")), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        assert!(
            warned.iter().any(|event| event.to_string().contains(told)),
            "{ran:?}"
        );
    }
}
