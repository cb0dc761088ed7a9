//! What a person sees and answers on a real terminal, in `run` and in `chat`.

use std::time::{Duration, Instant};

use crate::program::Place;
use crate::terminal::Terminal;

/// Makes two files, one after the other, and says how it went.
const TWICE: &str = r#"{ "rules": [
  { "when": { "tool_result_contains": "said no" }, "times": "always", "reply": { "text": "Nothing **more**." } },
  { "reply": { "message": { "content": [
    { "type": "tool_use", "name": "Bash", "input": { "command": "touch one" } } ] } } },
  { "reply": { "message": { "content": [
    { "type": "tool_use", "name": "Bash", "input": { "command": "touch one two" } } ] } } },
  { "times": "always", "reply": { "text": "That is **all**." } } ] }"#;

const AGAIN: &str = r#"{ "rules": [
  { "reply": { "message": { "content": [
    { "type": "tool_use", "name": "Bash", "input": { "command": "touch one two" } } ] } } },
  { "reply": { "message": { "content": [
    { "type": "tool_use", "name": "Bash", "input": { "command": "touch one two" } } ] } } },
  { "times": "always", "reply": { "text": "That is **all**." } } ] }"#;

const PLAN: &str = r##"{ "rules": [
  { "when": { "tool_result_contains": "smaller steps" }, "reply": { "text": "Smaller steps, then." } },
  { "reply": { "message": { "content": [ { "type": "tool_use", "name": "ExitPlanMode",
    "input": { "allowedPrompts": [ { "tool": "Bash", "prompt": "run the tests" } ] } } ] } } },
  { "reply": { "message": { "content": [
    { "type": "tool_use", "name": "Write", "input": { "file_path": "one", "content": "1" } } ] } } },
  { "times": "always", "reply": { "text": "That is all." } } ] }"##;

const QUESTION: &str = r#"{ "rules": [
  { "when": { "tool_result_contains": "a, c" }, "reply": { "text": "Both." } },
  { "when": { "tool_result_contains": "green" }, "reply": { "text": "Green it is." } },
  { "when": { "tool_result_contains": "blue" }, "reply": { "text": "Blue it is." } },
  { "when": { "last_user_contains": "several" }, "reply": { "message": { "content": [
    { "type": "tool_use", "name": "AskUserQuestion", "input": { "questions": [
      { "question": "Which letters?", "header": "Letters", "multiSelect": true, "options": [
        { "label": "a", "description": "" }, { "label": "b", "description": "" },
        { "label": "c", "description": "" } ] } ] } } ] } } },
  { "reply": { "message": { "content": [
    { "type": "tool_use", "name": "AskUserQuestion", "input": { "questions": [
      { "question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        { "label": "red", "description": "warm" }, { "label": "blue", "description": "cold" } ] } ] } } ] } } } ] }"#;

/// Works for longer than anybody waits; what it runs is known by its number.
const SLEEPER: &str = r#"{ "rules": [
  { "when": { "last_user_contains": "again" }, "times": "always", "reply": { "text": "Here again." } },
  { "reply": { "message": { "content": [ { "type": "tool_use", "name": "Bash", "input": {
    "command": "echo begun; sleep 603.25 # a comment that is much longer than a narrow window is wide" } } ] } } },
  { "times": "always", "reply": { "text": "Stopped." } } ] }"#;

/// Both ways of talking with an agent on a terminal.
const BOTH: [&str; 2] = ["run go", "chat go"];

fn scripted(
    place: &Place,
    columns: u16,
    what: &str,
    model: &str,
    variables: &[(&str, &str)],
) -> Terminal {
    let file = place.path().join("scenario.json");
    std::fs::write(&file, model).unwrap();
    let arguments = format!("{what} --engine=script --scenario={}", file.display());
    Terminal::sized(place, columns, &arguments, variables)
}

fn exists(place: &Place, name: &str) -> bool {
    place.path().join("work").join(name).exists()
}

/// Ends it, and says how: a conversation has to be told.
fn ended(terminal: &mut Terminal, what: &str) -> Option<i32> {
    if what.starts_with("chat") {
        terminal.type_in("/quit\r");
    }
    terminal.code()
}

/// Nobody is left who runs this.
fn until_gone(words: &[&str]) {
    let line = words.join("\u{0}");
    let deadline = Instant::now() + Duration::from_secs(30);
    let is_there = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes.into_iter().any(|process| {
            std::fs::read(process.path().join("cmdline"))
                .is_ok_and(|found| found.starts_with(line.as_bytes()))
        })
    };
    while is_there() {
        assert!(Instant::now() < deadline, "{words:?} still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn always_shows_its_rule_and_asks_no_second_time() {
    for what in BOTH {
        let place = Place::new();
        let mut terminal = scripted(&place, 100, what, AGAIN, &[]);
        terminal.expect("touch one");
        terminal.expect("always means: Bash(touch one two)");
        terminal.expect("run this? ");
        terminal.type_in("a\r");
        terminal.expect("touch one two");
        let rest = terminal.up_to("That is ");
        assert!(!rest.contains("run this?"), "{what}: {rest}");
        assert_eq!(
            ended(&mut terminal, what),
            Some(0),
            "{what}: {}",
            terminal.seen
        );
        assert!(exists(&place, "one") && exists(&place, "two"), "{what}");
    }
}

#[test]
fn a_yes_is_for_once_an_edit_for_another_command_and_a_no_has_a_reason() {
    for what in BOTH {
        let place = Place::new();
        let mut terminal = scripted(&place, 100, what, TWICE, &[]);
        terminal.expect("run this? ");
        terminal.type_in("what?\r");
        terminal.expect("not understood: answer y, n, a, e or s");
        terminal.expect("run this? ");
        terminal.type_in("e\r");
        terminal.expect("command: ");
        terminal.type_in("touch edited\r");
        terminal.expect("this would run");
        terminal.expect("run this? ");
        terminal.type_in("y\r");
        terminal.expect("touch one two");
        terminal.expect("run this? ");
        terminal.type_in("n use the other one\r");
        terminal.expect("use the other one");
        terminal.expect("Nothing ");
        assert_eq!(
            ended(&mut terminal, what),
            Some(0),
            "{what}: {}",
            terminal.seen
        );
        assert!(exists(&place, "edited"), "{what}");
        assert!(!exists(&place, "one") && !exists(&place, "two"), "{what}");
    }
}

#[test]
fn stop_ends_the_turn_and_runs_nothing() {
    for what in BOTH {
        let place = Place::new();
        let mut terminal = scripted(&place, 100, what, TWICE, &[]);
        terminal.expect("run this? ");
        terminal.type_in("s\r");
        terminal.expect("✗ ");
        let code = ended(&mut terminal, what);
        assert!(
            matches!(code, Some(0 | 130)),
            "{what}: {code:?} {}",
            terminal.seen
        );
        assert!(!exists(&place, "one"), "{what}");
    }
}

/// The file in which the agent of a session keeps its plan.
fn plan_file(place: &Place, session: &str) -> std::path::PathBuf {
    let hash = blake3::hash(session.as_bytes());
    let letters = hash.as_bytes().iter().take(12);
    let name: String = letters.map(|byte| char::from(b'a' + byte % 26)).collect();
    let plans = place.path().join("home/.claude/plans");
    std::fs::create_dir_all(&plans).unwrap();
    plans.join(format!("plan-{name}.md"))
}

/// The id of the session that begins like this.
fn whole_id(place: &Place, beginning: &str) -> String {
    let projects = std::fs::read_dir(place.path().join("home/.claude/projects")).unwrap();
    let files = projects.flat_map(|project| std::fs::read_dir(project.unwrap().path()).unwrap());
    let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let name = names.find(|name| name.starts_with(beginning) && name.ends_with(".jsonl"));
    name.unwrap().trim_end_matches(".jsonl").to_owned()
}

/// A session that has written a plan and now shows it.
fn planned(place: &Place, command: &str, plan: &str) -> Terminal {
    let mut first = scripted(
        place,
        100,
        "run hello",
        r#"{"rules": [{"reply": {"text": "Hi."}}]}"#,
        &[],
    );
    first.expect("--resume ");
    let session = first.up_to("`");
    first.code();
    std::fs::write(plan_file(place, &whole_id(place, &session)), plan).unwrap();
    let what = format!("{command} go --resume {session} --permission-mode plan");
    scripted(place, 100, &what, PLAN, &[("NO_COLOR", "1")])
}

#[test]
fn a_plan_is_shown_with_its_wishes_and_approved_or_sent_back() {
    for command in ["run", "chat"] {
        let table = [("y\r", true), ("a\r", false)];
        for (answer, asks) in table {
            let place = Place::new();
            let mut terminal = planned(&place, command, "# First\n\n1. make one");
            terminal.expect("│ # First");
            terminal.expect("│ 1. make one");
            terminal.expect("it also asks to do these without further approval");
            terminal.expect("│ Bash: run the tests");
            terminal.expect("proceed with this plan? ");
            terminal.type_in(answer);
            if asks {
                terminal.expect("make this change? ");
                terminal.type_in("y\r");
            }
            let rest = terminal.up_to("That is all.");
            assert!(
                asks || !rest.contains("make this change?"),
                "{command} {answer}: {rest}"
            );
            assert_eq!(ended(&mut terminal, command), Some(0), "{command} {answer}");
            assert!(exists(&place, "one"), "{command} {answer}");
        }
        let place = Place::new();
        let mut terminal = planned(&place, command, "# First");
        terminal.expect("proceed with this plan? ");
        terminal.type_in("n in smaller steps\r");
        terminal.expect("Smaller steps, then.");
        assert_eq!(ended(&mut terminal, command), Some(0), "{command}");
        assert!(!exists(&place, "one"), "{command}");
    }
}

#[test]
fn a_plan_that_is_not_shown_cannot_be_approved() {
    for what in BOTH {
        let place = Place::new();
        let what = format!("{what} --permission-mode plan");
        let mut terminal = scripted(&place, 100, &what, PLAN, &[]);
        terminal.expect("the request contains no plan, so it can only be denied");
        terminal.expect("send it back? ");
        terminal.type_in("y\r");
        terminal.expect("send it back? ");
        terminal.type_in("n in smaller steps\r");
        terminal.expect("Smaller steps, then.");
        assert_eq!(ended(&mut terminal, &what), Some(0), "{what}");
        assert!(!exists(&place, "one"), "{what}");
    }
}

#[test]
fn questions_take_a_number_several_or_words() {
    let table = [
        ("go", "Which colour?", "2\r", "Blue it is."),
        ("go", "Which colour?", "green\r", "Green it is."),
        ("several", "Which letters?", "1,3\r", "Both."),
    ];
    for command in ["run", "chat"] {
        for (prompt, question, answer, says) in table {
            let what = format!("{command} {prompt}");
            let place = Place::new();
            let mut terminal = scripted(&place, 100, &what, QUESTION, &[]);
            terminal.expect(question);
            terminal.expect("your own words, or /no to decline: ");
            terminal.type_in(answer);
            terminal.expect(says);
            assert_eq!(ended(&mut terminal, &what), Some(0), "{what} {answer}");
        }
    }
}

#[test]
fn ctrl_c_stops_the_turn_pressed_again_the_run_and_leaves_nobody() {
    let place = Place::new();
    let mut terminal = scripted(&place, 100, "run go --allow Bash", SLEEPER, &[]);
    terminal.expect("sleep 603.25");
    terminal.type_in("\u{3}");
    terminal.expect("interrupting the turn; press Ctrl-C again to end the run");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.code(), Some(130), "{}", terminal.seen);
    until_gone(&["sleep", "603.25"]);

    let place = Place::new();
    let mut terminal = scripted(&place, 100, "chat go --allow Bash", SLEEPER, &[]);
    terminal.expect("sleep 603.25");
    terminal.type_in("\u{3}");
    terminal.expect("interrupted");
    until_gone(&["sleep", "603.25"]);
    // The conversation goes on, and ends when there is nothing to interrupt.
    terminal.type_in("again\r");
    terminal.expect("Here again.");
    terminal.expect("so far");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.seen);
}

#[test]
fn a_narrow_window_without_colour_shows_everything() {
    let colour = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    for what in BOTH {
        let place = Place::new();
        let mut terminal = scripted(&place, 24, what, TWICE, &[("NO_COLOR", "1")]);
        // The line of the question is longer than the window is wide.
        let mut seen = terminal.up_to("run this? ");
        terminal.type_in("y\r");
        seen += &terminal.up_to("run this? ");
        terminal.type_in("y\r");
        seen += &terminal.up_to("That is all.");
        assert_eq!(
            ended(&mut terminal, what),
            Some(0),
            "{what}: {}",
            terminal.seen
        );
        assert!(!colour.is_match(&seen), "{what}: {seen:?}");
        assert!(exists(&place, "one") && exists(&place, "two"), "{what}");
    }
}

/// The widest line of what was drawn, without what only moves the cursor.
fn widest(drawn: &str) -> usize {
    let moves = regex::Regex::new("\u{1b}\\[[0-9;?]*[A-Za-z]").unwrap();
    let drawn = moves.replace_all(drawn, "");
    let lines = drawn.split(['\r', '\n']);
    lines.map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn the_moving_line_follows_the_width_of_the_window() {
    let place = Place::new();
    // Another number: nobody else waits for this one to be gone.
    let model = SLEEPER.replace("603.25", "603.75");
    let mut terminal = scripted(&place, 100, "run go --allow Bash", &model, &[]);
    // On the line of the action, and then on the one that moves.
    terminal.expect("a narrow window is wide");
    terminal.expect("a narrow window is wide");
    terminal.resize(40);
    // What was drawn for the old width may still come; what the new one draws is cut off.
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        terminal.expect("sleep 603.75");
        let drawn = terminal.up_to("sleep 603.75");
        if !drawn.contains("window is wide") {
            assert!(widest(&drawn) <= 40, "{drawn:?}");
            break;
        }
        assert!(
            Instant::now() < deadline,
            "it stays as wide as before: {drawn:?}"
        );
    }
    terminal.type_in("\u{3}");
    assert_eq!(terminal.code(), Some(130));
}

#[test]
fn what_was_typed_survives_another_width() {
    let place = Place::new();
    let long = "these words are more than the window will be wide after it was made smaller";
    let model = format!(
        r#"{{ "rules": [ {{ "when": {{ "last_user_contains": "{long} again" }},
        "reply": {{ "text": "All of it came." }} }} ] }}"#
    );
    let mut terminal = scripted(&place, 100, "chat", &model, &[]);
    terminal.expect("> ");
    terminal.type_in(long);
    terminal.expect("made smaller");
    terminal.resize(30);
    terminal.type_in(" again\r");
    terminal.expect("All of it came.");
    terminal.resize(120);
    terminal.type_in("/quit\r");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.seen);
}
