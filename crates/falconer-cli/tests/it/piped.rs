//! Every command in a pipe and on a terminal: the same code, no colours where nobody sees them.

use crate::program::{Place, Ran, run};
use crate::terminal::Terminal;

const MODEL: &str =
    r#"{ "rules": [ { "times": "always", "reply": { "text": "Hello, **all**." } } ] }"#;

/// A place in which everything can be shown.
fn furnished() -> Place {
    let place = Place::new();
    std::fs::write(place.path().join("work/hello.json"), MODEL).unwrap();
    let scripted = ["--engine", "script", "--scenario", "hello.json"];
    let mut record = place.falconer();
    record
        .args(["record", "run.jsonl", "hi", "--engine-to", "lines.jsonl"])
        .args(scripted);
    let ran = run(&mut record, "");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    place
}

fn session(place: &Place) -> String {
    let listed = run(place.falconer().args(["sessions", "list", "--json"]), "");
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    listed[0]["sessionId"].as_str().unwrap().to_owned()
}

#[test]
fn every_command_does_the_same_in_a_pipe_and_on_a_terminal() {
    let plain = regex::Regex::new("\u{1b}\\[[0-9;?]*[A-Za-z]").unwrap();
    let place = furnished();
    let id = session(&place);
    let table: Vec<(String, i32, &str)> = [
        ("", 0, "falconer demo"),
        ("--help", 0, "Exit codes:"),
        ("--version", 0, "falconer "),
        ("demo --yes", 0, "all good"),
        (
            "run hi --engine script --scenario hello.json",
            0,
            "Hello, all.",
        ),
        ("sessions list", 0, "hi"),
        ("sessions show ID", 0, "Hello, all."),
        ("sessions search hello", 0, "Hello"),
        ("sessions export ID", 0, "Hello, **all**."),
        ("sessions export ID --format html", 0, "<!doctype html>"),
        ("sessions export ID --format jsonl", 0, "\"type\""),
        ("sessions show nothing", 6, "no session matches"),
        ("init --yes", 0, "Now try:"),
        ("doctor", 3, "no credentials found"),
        ("config path", 0, "config.toml"),
        ("config list", 0, "run.engine = auto"),
        ("config get run.engine", 0, "auto"),
        ("config schema", 0, "$schema"),
        ("config get run.modle", 2, "run.model"),
        ("explain 'Bash(git push)'", 1, "asked"),
        ("replay run.jsonl", 0, "Hello, all."),
        ("replay lines.jsonl", 0, "Hello, all."),
        ("completions bash", 0, "_falconer"),
        ("man", 0, ".TH falconer"),
        (
            "attach x --server http://127.0.0.1:9 --token none",
            3,
            "failed to reach",
        ),
        (
            "approve --server http://127.0.0.1:9 --token none",
            3,
            "failed to reach",
        ),
        ("fly", 2, "unrecognized subcommand"),
    ]
    .into_iter()
    .map(|(arguments, code, text)| (arguments.replace("ID", &id), code, text))
    .collect();
    for (arguments, code, text) in table {
        let Ran {
            code: piped,
            stdout,
            stderr,
        } = in_a_pipe(&place, &arguments);
        let said = format!("{stdout}{stderr}");
        assert_eq!(piped, Some(code), "{arguments}: {said}");
        assert!(said.contains(text), "{arguments}: {said}");
        assert!(!said.contains('\u{1b}'), "{arguments}: {said:?}");
        let mut terminal = Terminal::start(&place, &arguments, &[]);
        let shown = terminal.rest();
        assert_eq!(terminal.code(), Some(code), "{arguments}: {shown}");
        let shown = plain.replace_all(&shown, "");
        assert!(shown.contains(text), "{arguments}: {shown}");
    }
}

/// As a shell reads the words.
fn in_a_pipe(place: &Place, arguments: &str) -> Ran {
    let mut command = place.command("sh");
    let falconer = env!("CARGO_BIN_EXE_falconer");
    command.args(["-c", &format!("exec '{falconer}' {arguments}")]);
    run(&mut command, "")
}

#[test]
fn a_reader_that_leaves_early_is_no_fault() {
    let place = furnished();
    for arguments in [
        "config schema",
        "completions bash",
        "sessions list",
        "man",
        "replay run.jsonl",
    ] {
        let mut command = place.command("bash");
        let falconer = env!("CARGO_BIN_EXE_falconer");
        let script = format!("set -o pipefail; '{falconer}' {arguments} | head -c 1 > /dev/null");
        command.args(["-c", &script]);
        let ran = run(&mut command, "");
        // Either all was written before the reader left, or the system or we ended it.
        assert!(
            matches!(ran.code, Some(0 | 141)),
            "{arguments}: {:?} {}",
            ran.code,
            ran.stderr
        );
        assert!(
            !ran.stderr.contains("panicked"),
            "{arguments}: {}",
            ran.stderr
        );
    }
}
