//! `falconer chat` in a pipe and on a terminal.

use crate::program::{Place, run};
use crate::terminal::Terminal;

fn scenario(place: &Place, rules: &str) -> String {
    let file = place.path().join("scenario.json");
    std::fs::write(&file, format!("{{ \"rules\": [ {rules} ] }}")).unwrap();
    format!("--engine=script --scenario={}", file.display())
}

const ECHO: &str = r#"
    { "when": { "last_user_contains": "one" }, "reply": { "text": "first answer" } },
    { "when": { "last_user_contains": "two" }, "reply": { "text": "second answer" } }"#;

const TOUCH: &str = r#"
    { "reply": { "message": { "content": [
        { "type": "tool_use", "name": "Bash", "input": { "command": "touch made" } } ] } } },
    { "reply": { "text": "That is all." } }"#;

#[test]
fn in_a_pipe_each_line_is_a_message_and_the_end_ends_it() {
    let place = Place::new();
    let flags = scenario(&place, ECHO);
    let mut command = place.falconer();
    command.arg("chat").args(flags.split(' '));
    let ran = run(&mut command, "one\n\ntwo\n");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let first = ran.stdout.find("first answer").expect(&ran.stdout);
    let second = ran.stdout.find("second answer").expect(&ran.stdout);
    assert!(first < second, "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
}

#[test]
fn in_a_pipe_nobody_is_asked() {
    let place = Place::new();
    let flags = scenario(&place, TOUCH);
    let mut command = place.falconer();
    command.arg("chat").args(flags.split(' '));
    let ran = run(&mut command, "go\n");
    assert!(
        ran.stdout.contains("no (no terminal to ask on)"),
        "{}",
        ran.stdout
    );
    assert!(!place.path().join("work/made").exists());
}

#[test]
fn on_a_terminal_messages_commands_and_answers_share_the_line() {
    let place = Place::new();
    let flags = scenario(&place, TOUCH);
    let mut terminal = Terminal::start(&place, &format!("chat {flags}"), &[]);
    terminal.expect("/help lists commands");
    terminal.type_in("/qiut\r");
    terminal.expect("did you mean `/quit`?");
    terminal.type_in("go\r");
    terminal.expect("run this? ");
    terminal.type_in("y\r");
    terminal.expect("That is all.");
    terminal.expect("so far");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.seen);
    assert!(place.path().join("work/made").exists());
    let history = place.path().join("home/.local/state/falconer/history");
    assert!(std::fs::read_to_string(history).unwrap().contains("go"));
}

#[test]
fn ctrl_d_ends_an_idle_conversation() {
    let place = Place::new();
    let flags = scenario(&place, ECHO);
    let mut terminal = Terminal::start(&place, &format!("chat {flags}"), &[]);
    terminal.expect("> ");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.seen);
}
