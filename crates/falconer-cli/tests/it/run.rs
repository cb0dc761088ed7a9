//! `falconer run` in a pipe and on a terminal.

use serde_json::Value;

use crate::program::{Place, Ran, run};
use crate::terminal::Terminal;

/// A model that wants to make a file, and says what came of it.
const TOUCH: &str = r#"{ "rules": [
    { "when": { "tool_result_contains": "said no" }, "reply": { "text": "All right, **nothing** made." } },
    { "reply": { "message": { "content": [
        { "type": "tool_use", "name": "Bash", "input": { "command": "touch made" } } ] } } },
    { "reply": { "text": "That is all." } } ] }"#;

const HELLO: &str = r#"{ "rules": [ { "reply": { "text": "Hello." } } ] }"#;

const SLEEPER: &str = r#"{ "rules": [ { "reply": { "message": { "content": [ { "type": "tool_use",
    "name": "Bash", "input": { "command": "echo x; sleep 600" } } ] } } } ] }"#;

const QUESTION: &str = r#"{ "rules": [
    { "when": { "tool_result_contains": "blue" }, "reply": { "text": "Blue it is." } },
    { "reply": { "message": { "content": [ { "type": "tool_use", "name": "AskUserQuestion", "input":
        { "questions": [ { "question": "Which colour?", "header": "Colour", "multiSelect": false,
          "options": [ { "label": "red", "description": "warm" }, { "label": "blue", "description": "cold" } ] } ] } } ] } } } ] }"#;

fn scenario(place: &Place, text: &str) -> String {
    let file = place.path().join("scenario.json");
    std::fs::write(&file, text).unwrap();
    format!("--engine=script --scenario={}", file.display())
}

fn piped(place: &Place, text: &str, arguments: &[&str], stdin: &str) -> Ran {
    let flags = scenario(place, text);
    let mut command = place.falconer();
    command.arg("run").args(flags.split(' ')).args(arguments);
    run(&mut command, stdin)
}

#[test]
fn in_a_pipe_nothing_waits_what_would_ask_is_denied_and_says_so() {
    let place = Place::new();
    let ran = piped(&place, TOUCH, &[], "make a file");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for text in [
        "▸ Bash  touch made",
        "no (no terminal to ask on)",
        "done in ",
    ] {
        assert!(ran.stdout.contains(text), "{}", ran.stdout);
    }
    assert!(
        ran.stdout.contains("falconer chat --resume "),
        "{}",
        ran.stdout
    );
    assert!(!place.path().join("work/made").exists());
    assert!(!ran.stdout.contains('\u{1b}'));
}

#[test]
fn quiet_writes_the_answer_and_json_writes_events() {
    let place = Place::new();
    let ran = piped(&place, HELLO, &["hi", "--quiet"], "");
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(0), "Hello.\n", "")
    );
    let ran = piped(&place, HELLO, &["hi", "--json"], "");
    let events: Vec<Value> = ran
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let kinds: Vec<_> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"run.started"), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&"run.completed"));
    let started = events
        .iter()
        .find(|event| event["type"] == "run.started")
        .unwrap();
    assert_eq!(started["data"]["engine"], "script");
    let reason = started["data"]["engine_reason"].as_str().unwrap();
    assert!(reason.contains("scenario.json"), "{reason}");
    assert_eq!(events.last().unwrap()["data"]["text"], "Hello.");
}

#[test]
fn the_prompt_comes_from_an_argument_a_file_and_stdin() {
    let place = Place::new();
    let echo = r#"{ "rules": [
        { "when": { "last_user_contains": "from the file" }, "reply": { "text": "file" } },
        { "when": { "last_user_contains": "both\n\nparts" }, "reply": { "text": "both" } },
        { "when": { "last_user_contains": "from stdin" }, "reply": { "text": "stdin" } } ] }"#;
    std::fs::write(place.path().join("work/task.md"), "from the file\n").unwrap();
    let table: [(&[&str], &str, &str); 3] = [
        (&["--file=task.md"], "", "file\n"),
        (&["both"], "parts\n", "both\n"),
        (&[], "from stdin", "stdin\n"),
    ];
    for (arguments, stdin, expected) in table {
        let mut arguments = arguments.to_vec();
        arguments.push("--quiet");
        let ran = piped(&place, echo, &arguments, stdin);
        assert_eq!(ran.stdout, expected, "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn sessions_go_on_by_name_by_the_newest_and_as_a_copy() {
    let place = Place::new();
    let session = |ran: &Ran| {
        let last = ran.stdout.lines().last().unwrap();
        let last: Value = serde_json::from_str(last).unwrap();
        last["data"]["native_session"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let first = session(&piped(&place, HELLO, &["hi", "--json"], ""));
    let again = piped(&place, HELLO, &["hi", "--json", "--resume", &first], "");
    assert_eq!(session(&again), first, "{}", again.stdout);
    let newest = piped(&place, HELLO, &["hi", "--json", "--continue"], "");
    assert_eq!(session(&newest), first);
    let copy = piped(&place, HELLO, &["hi", "--json", "--continue", "--fork"], "");
    assert_ne!(session(&copy), first);
    let missing = "00000000-0000-4000-8000-000000000000";
    let ran = piped(&place, HELLO, &["hi", "--resume", missing], "");
    assert_eq!(ran.code, Some(6), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn limits_and_policies_hold_and_have_a_code() {
    let place = Place::new();
    let ran = piped(
        &place,
        SLEEPER,
        &["go", "--allow", "Bash", "--deadline", "1s"],
        "",
    );
    assert_eq!(ran.code, Some(5), "{}", ran.stdout);
    assert!(ran.stdout.contains("limit:deadline"), "{}", ran.stdout);
    std::fs::write(
        place.path().join("work/policy.toml"),
        "[allow]\ncommands = ['touch']\n",
    )
    .unwrap();
    let ran = piped(&place, TOUCH, &["go", "--policy", "policy.toml"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert!(place.path().join("work/made").exists(), "{}", ran.stdout);
}

#[test]
fn a_project_narrows_what_a_flag_of_the_user_left_open() {
    let place = Place::new();
    std::fs::write(
        place.path().join("work/.falconer.toml"),
        "run.deny = ['Bash']\n",
    )
    .unwrap();
    let ran = piped(&place, TOUCH, &["go", "--allow", "Bash"], "");
    assert!(!place.path().join("work/made").exists(), "{}", ran.stdout);
    std::fs::write(
        place.path().join("work/.falconer.toml"),
        "claude.path = '/evil'\n",
    )
    .unwrap();
    let ran = piped(&place, TOUCH, &["go"], "");
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("cannot be set by a project"),
        "{}",
        ran.stderr
    );
}

#[test]
fn without_an_engine_the_text_says_what_was_looked_for() {
    let ran = run(Place::new().falconer().args(["run", "hi"]), "");
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    for text in [
        "claude was not found",
        "ANTHROPIC_API_KEY",
        "falconer demo",
        "hint: ",
    ] {
        assert!(ran.stderr.contains(text), "{text}: {}", ran.stderr);
    }
}

#[test]
fn bypass_needs_a_second_switch() {
    let place = Place::new();
    let ran = piped(
        &place,
        TOUCH,
        &["go", "--permission-mode", "bypassPermissions"],
        "",
    );
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    assert!(!place.path().join("work/made").exists());
}

fn terminal(place: &Place, text: &str, more: &str) -> Terminal {
    let flags = scenario(place, text);
    Terminal::start(place, &format!("run go {flags} {more}"), &[])
}

const ASK: &str = "run this? [y]es, [n]o (reason), [a]lways, [e]dit, [s]top: ";

#[test]
fn on_a_terminal_each_answer_does_what_it_says() {
    let table: [(&str, bool, &str); 4] = [
        ("y\n", true, "That is all."),
        ("n not today\n", false, "the user said no: not today"),
        ("a\n", true, "That is all."),
        ("s\n", false, "✗ "),
    ];
    for (answer, made, text) in table {
        let place = Place::new();
        let mut terminal = terminal(&place, TOUCH, "");
        terminal.expect("always means: Bash(touch");
        terminal.expect(ASK);
        terminal.type_in(answer);
        terminal.expect(text);
        terminal.code();
        assert_eq!(place.path().join("work/made").exists(), made, "{answer}");
    }
}

#[test]
fn a_command_can_be_edited_before_it_runs() {
    let place = Place::new();
    let mut terminal = terminal(&place, TOUCH, "");
    terminal.expect(ASK);
    terminal.type_in("e\n");
    terminal.expect("command: ");
    terminal.type_in("touch edited\n");
    terminal.expect("this would run");
    terminal.expect("run this? ");
    terminal.type_in("y\n");
    terminal.expect("tokens in");
    assert_eq!(terminal.code(), Some(0));
    assert!(place.path().join("work/edited").exists());
    assert!(!place.path().join("work/made").exists());
}

#[test]
fn questions_are_answered_by_number() {
    let place = Place::new();
    let mut terminal = terminal(&place, QUESTION, "");
    terminal.expect("Which colour?");
    terminal.expect("2 blue");
    terminal.expect("number or your own words, or /no to decline: ");
    terminal.type_in("2\n");
    terminal.expect("Blue it is.");
    assert_eq!(terminal.code(), Some(0));
}

#[test]
fn ctrl_c_interrupts_the_turn_and_a_second_one_ends_the_run() {
    let place = Place::new();
    let mut terminal = terminal(&place, SLEEPER, "--allow Bash");
    terminal.expect("sleep 600");
    terminal.type_in("\u{3}");
    terminal.expect("interrupting the turn");
    let rest = terminal.rest();
    assert_eq!(terminal.code(), Some(130), "{rest}");
}

#[test]
fn a_narrow_window_and_no_colour_are_fine() {
    let place = Place::new();
    let flags = scenario(&place, HELLO);
    let variables = [("NO_COLOR", "1"), ("COLUMNS", "20")];
    let mut terminal = Terminal::start(&place, &format!("run hi {flags}"), &variables);
    terminal.expect("Hello.");
    assert_eq!(terminal.code(), Some(0));
    assert!(!terminal.rest().contains('\u{1b}'));
}

#[test]
fn auto_takes_the_official_cli_and_shows_it_the_same_way() {
    use falconer_testkit::scenario::{Scenario, last_user_contains, text};
    use falconer_testkit::{ApiServer, RealCli, clean_env};
    let cli = RealCli::find().unwrap();
    let rule = Scenario::new().on(last_user_contains("say hello"));
    let server = ApiServer::start(rule.always().reply(text("Hello, **all**."))).unwrap();
    let place = Place::new();
    let start = |more: &[&str]| {
        let mut command = place.falconer();
        command
            .args(["run", "say hello"])
            .args(more)
            .env_clear()
            .envs(clean_env(&place.path().join("home"), &server.url()))
            .env("FALCONER_CLAUDE_PATH", cli.path());
        run(&mut command, "")
    };
    let ran = start(&[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with("claude 2."), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nHello, all.\n"), "{}", ran.stdout);
    let ran = start(&["--json", "--continue"]);
    let started = ran
        .stdout
        .lines()
        .find(|line| line.contains("run.started"))
        .unwrap();
    let started: Value = serde_json::from_str(started).unwrap();
    assert_eq!(started["data"]["engine"], "claude");
    let reason = started["data"]["engine_reason"].as_str().unwrap();
    assert!(
        reason.contains("can authenticate by variable ANTHROPIC_API_KEY"),
        "{reason}"
    );
}
