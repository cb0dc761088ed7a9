//! `falconer attach` and `falconer approve` with a server of ours and a scripted model.

use serde_json::Value;

use crate::hosted::Hosted;
use crate::program::{Place, Ran, finish, run, start};
use crate::terminal::Terminal;

/// A model that runs what it is told to touch, asks, plans, talks, or falls silent.
const MODEL: &str = r#"{ "rules": [
  { "when": { "tool_result_contains": "blue" }, "times": "always", "reply": { "text": "Blue it is." } },
  { "when": { "tool_result_contains": "not now" }, "times": "always", "reply": { "text": "Then I will not." } },
  { "when": { "tool_result_contains": "" }, "times": "always", "reply": { "text": "That is all." } },
  { "when": { "last_user_contains": "touch" }, "times": "always", "reply": { "message": { "content": [
    { "type": "tool_use", "name": "Bash", "input": { "command": "touch made" } } ] } } },
  { "when": { "last_user_contains": "ask me" }, "times": "always", "reply": { "message": { "content": [
    { "type": "tool_use", "name": "AskUserQuestion", "input": { "questions": [
      { "question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        { "label": "red", "description": "warm" }, { "label": "blue", "description": "cold" } ] } ] } } ] } } },
  { "when": { "last_user_contains": "begin" }, "times": "always", "reply": { "message": { "content": [
    { "type": "text", "text": "First words.\n\nNever reached." } ], "delta_chars": 14,
    "fault": { "stall": { "after": 4 } } } } },
  { "times": "always", "reply": { "text": "I hear you." } } ] }"#;

fn attach(place: &Place, server: &Hosted<'_>, session: &str) -> Terminal {
    let arguments = format!("attach {session} --server {}", server.url());
    Terminal::start(place, &arguments, &[])
}

fn made(place: &Place) -> bool {
    place.path().join("work/made").exists()
}

#[test]
fn an_attached_session_is_shown_talked_with_and_answered() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    let session = server.session(Some("hello"));
    let mut terminal = attach(&place, &server, &session);
    terminal.expect("hello");
    terminal.expect("I hear you.");
    terminal.type_in("touch it\r");
    terminal.expect("touch made");
    terminal.expect("always means: Bash(touch");
    terminal.expect("run this? ");
    assert!(!made(&place));
    terminal.type_in("n not now\r");
    terminal.expect("Then I will not.");
    assert!(!made(&place));
    terminal.type_in("touch it again\r");
    terminal.expect("run this? ");
    terminal.type_in("y\r");
    terminal.expect("That is all.");
    assert!(made(&place));
    terminal.type_in("ask me\r");
    terminal.expect("Which colour?");
    terminal.expect("2 blue");
    terminal.expect("your own words, or /no to decline: ");
    terminal.type_in("2\r");
    terminal.expect("Blue it is.");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.seen);
    // Who leaves does not end the session.
    server.until_state(&session, "ready");
}

#[test]
fn words_are_shown_as_they_come_and_a_turn_can_be_stopped() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    let session = server.session(None);
    let mut terminal = attach(&place, &server, &session);
    terminal.expect("> ");
    terminal.type_in("begin\r");
    // The model has not come to the end of its answer, and never will.
    terminal.expect("First words.");
    server.until_state(&session, "running");
    terminal.type_in("/interrupt\r");
    server.until_state(&session, "ready");
    assert!(
        !terminal.seen.contains("Never reached"),
        "{}",
        terminal.seen
    );
    terminal.expect("so far");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.seen);
}

#[test]
fn always_makes_a_rule_that_the_server_uses_from_then_on() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    let session = server.session(Some("touch it"));
    let mut terminal = attach(&place, &server, &session);
    terminal.expect("always means: Bash(touch");
    terminal.expect("run this? ");
    terminal.type_in("a\r");
    terminal.expect("That is all.");
    std::fs::remove_file(place.path().join("work/made")).unwrap();
    terminal.type_in("touch it again\r");
    terminal.expect("touch made");
    let answer = terminal.up_to("That is all.");
    assert!(answer.contains("answered by rule"), "{answer}");
    assert!(made(&place));
    let (_, rules) = server.call("GET", "/v1/rules", &Value::Null);
    let rule = &rules["rules"][0];
    assert!(
        rule["text"].as_str().unwrap().starts_with("Bash(touch"),
        "{rules}"
    );
    assert_eq!(rule["used"], 1, "{rules}");
}

fn approve(server: &Hosted<'_>, arguments: &[&str]) -> Ran {
    let mut all = vec!["approve"];
    all.extend(arguments);
    run(&mut server.falconer(&all), "")
}

#[test]
fn what_waits_is_listed_and_each_answer_does_what_it_says() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    let none = approve(&server, &[]);
    assert!(
        none.stderr.contains("no requests need an answer"),
        "{}",
        none.stderr
    );
    let table: [(&str, bool, &str); 4] = [
        ("yes", true, "That is all."),
        ("no not now", false, "Then I will not."),
        ("edit touch made2", false, "That is all."),
        ("always", true, "That is all."),
    ];
    for (answer, is_made, says) in table {
        let session = server.session(Some("touch it"));
        let request = server.request();
        let id = request["id"].as_str().unwrap();
        let listed = approve(&server, &[]);
        let line = format!("{id}  {session}  Bash");
        assert!(
            listed.stdout.contains(&line),
            "{}{}",
            listed.stdout,
            listed.stderr
        );
        let json = approve(&server, &["--list", "--json"]).stdout;
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json[0]["digest"], request["digest"], "{json}");
        assert_eq!(approve(&server, &[id, "perhaps"]).code, Some(2));
        let digest = request["digest"].as_str().unwrap();
        // The beginning of an id will do where only one begins like that.
        let named = if answer == "yes" { id } else { &id[..8] };
        let answered = approve(&server, &[named, answer, "--digest", digest]);
        assert_eq!(answered.code, Some(0), "{answer}: {}", answered.stderr);
        server.until_turn(&session);
        assert_eq!(made(&place), is_made, "{answer}");
        let _ = std::fs::remove_file(place.path().join("work/made"));
        let shown = run(&mut server.falconer(&["attach", &session]), "");
        assert!(
            shown.stdout.contains(says),
            "{answer}: {}{}",
            shown.stdout,
            shown.stderr
        );
    }
    assert!(place.path().join("work/made2").exists());
}

#[test]
fn a_login_link_signs_in_once() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    let made = run(
        &mut server.falconer(&["login", "--json", "--scopes", "read"]),
        "",
    );
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    let link = made["link"].as_str().unwrap();
    let (address, code) = link.split_once("/#code=").unwrap();
    assert_eq!(address, server.url());
    let login = serde_json::json!({ "code": code });
    assert_eq!(server.call("POST", "/v1/login", &login).0, 204);
    assert_eq!(
        server.call("POST", "/v1/login", &login).0,
        401,
        "it works once"
    );
    let public = ["login", "--public", "https://agents.example.org/"];
    let plain = run(&mut server.falconer(&public), "").stdout;
    assert!(
        plain.starts_with("https://agents.example.org/#code="),
        "{plain}"
    );
    assert_eq!(plain.lines().count(), 1, "no picture in a pipe");
    let mut terminal = Terminal::start(&place, &format!("login --server {}", server.url()), &[]);
    terminal.expect("/#code=");
    terminal.expect("█");
    terminal.expect("works only on this machine");
}

#[test]
fn on_a_terminal_approve_asks_one_after_the_other() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    for text in ["touch it", "ask me"] {
        let session = server.session(Some(text));
        server.until_state(&session, "waiting");
    }
    let arguments = format!("approve --server {}", server.url());
    let mut terminal = Terminal::start(&place, &arguments, &[]);
    terminal.expect("session ");
    terminal.expect("run this? ");
    terminal.type_in("y\n");
    terminal.expect("session ");
    terminal.expect("Which colour?");
    terminal.expect("your own words, or /no to decline: ");
    terminal.type_in("2\n");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.seen);
    server.until(|_| made(&place).then_some(()));
}

#[test]
fn of_two_answers_at_once_one_counts_and_the_other_is_told_whose() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    let session = server.session(Some("touch it"));
    let request = server.request();
    let id = request["id"].as_str().unwrap();
    let digest = request["digest"].as_str().unwrap();
    let answers = ["yes", "no not now"].map(|answer| ["approve", id, answer, "--digest", digest]);
    let children = answers.map(|answer| start(&mut server.falconer(&answer)));
    let [yes, no] = children.map(finish);
    let lost = match (yes.code, no.code) {
        (Some(0), Some(6)) => &no,
        (Some(6), Some(0)) => &yes,
        other => panic!("{other:?}: {}{}", yes.stderr, no.stderr),
    };
    assert!(
        lost.stderr.contains("answered request") && lost.stderr.contains("local"),
        "{}",
        lost.stderr
    );
    assert!(lost.stderr.contains("hint: "), "{}", lost.stderr);
    server.until_turn(&session);
    assert_eq!(made(&place), yes.code == Some(0));
    let late = approve(&server, &[id, "yes", "--digest", digest]);
    assert_eq!(late.code, Some(6), "{}", late.stderr);
}

/// A terminal whose server was killed while it asked, and the address of that server.
fn left_alone(place: &Place) -> (Terminal, String) {
    let server = Hosted::start(place, MODEL);
    let session = server.session(Some("touch it"));
    let mut terminal = attach(place, &server, &session);
    terminal.expect("run this? ");
    let address = server.kill();
    terminal.expect("connection lost; reconnecting");
    (terminal, address)
}

#[test]
fn a_server_that_dies_is_waited_for_and_what_was_open_is_told() {
    let place = Place::new();
    let (mut terminal, address) = left_alone(&place);
    let server = Hosted::at(&place, &address, |_| ());
    // The request has expired with the server; nothing has run.
    terminal.expect("reconnected");
    assert!(!made(&place));
    terminal.type_in("hello again\r");
    terminal.expect("I hear you.");
    terminal.type_in("/quit\r");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.seen);
    drop(server);
}

#[test]
fn a_server_that_stays_away_is_given_up_with_a_hint() {
    let place = Place::new();
    let (mut terminal, address) = left_alone(&place);
    let said = format!("failed to reach the server at http://{address}: connection refused");
    terminal.expect(&said);
    terminal.expect("start it with `falconer serve`");
    assert_eq!(terminal.code(), Some(3), "{}", terminal.seen);
}

#[test]
fn what_a_server_refuses_is_told_with_a_code() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    let table: [(&[&str], Option<&str>, i32, &str); 4] = [
        (&["approve"], Some("flc_wrong"), 3, "401"),
        (&["approve", "nothing.1", "yes"], None, 6, "404"),
        (&["attach", "nothing"], None, 6, "404"),
        (
            &["attach", "00000000-0000-4000-8000-000000000000"],
            None,
            6,
            "404",
        ),
    ];
    for (arguments, token, code, text) in table {
        let mut command = server.falconer(arguments);
        if let Some(token) = token {
            command.env("FALCONER_TOKEN", token);
        }
        let ran = run(&mut command, "");
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
        assert!(
            ran.stderr.contains(text) && ran.stderr.contains("hint: "),
            "{}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("flc_"), "{}", ran.stderr);
    }
    let other = Place::new();
    let none = run(
        other
            .falconer()
            .args(["approve", "--server", &server.url()]),
        "",
    );
    assert_eq!(none.code, Some(3), "{}", none.stderr);
    assert!(none.stderr.contains("FALCONER_TOKEN"), "{}", none.stderr);
    let dead = server.kill();
    let mut command = place.falconer();
    command.args(["attach", "x", "--server", &format!("http://{dead}")]);
    let gone = run(&mut command, "");
    assert_eq!(gone.code, Some(3), "{}", gone.stderr);
    assert!(gone.stderr.contains("falconer serve"), "{}", gone.stderr);
}

#[test]
fn in_a_pipe_attach_shows_what_there_is_and_sends_what_comes() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    let session = server.session(Some("hello"));
    server.until_turn(&session);
    let ran = run(&mut server.falconer(&["attach", &session]), "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("I hear you."), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    let new = run(&mut server.falconer(&["attach", &session, "--new"]), "");
    assert!(!new.stdout.contains("I hear you."), "{}", new.stdout);
}

#[test]
fn without_an_id_the_session_that_runs_is_attached() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    let none = run(&mut server.falconer(&["attach"]), "");
    assert_eq!(none.code, Some(6), "{}", none.stderr);
    assert!(
        none.stderr.contains("no session is running"),
        "{}",
        none.stderr
    );
    let first = server.session(Some("hello"));
    server.until_turn(&first);
    let one = run(&mut server.falconer(&["attach"]), "");
    assert_eq!(one.code, Some(0), "{}", one.stderr);
    assert!(one.stdout.contains("I hear you."), "{}", one.stdout);
    let second = server.session(Some("hello"));
    server.until_turn(&second);
    let several = run(&mut server.falconer(&["attach"]), "");
    assert_eq!(several.code, Some(2), "{}", several.stderr);
    assert!(
        several.stderr.contains("2 sessions are running"),
        "{}",
        several.stderr
    );
    let ids: Vec<&str> = several
        .stdout
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(ids.len(), 2, "{}", several.stdout);
    for id in ids {
        assert!(id.len() < 20, "{id}");
        let ran = run(&mut server.falconer(&["attach", id]), "");
        assert_eq!(ran.code, Some(0), "{id}: {}", ran.stderr);
    }
}

#[test]
fn an_id_is_taken_in_every_form_that_means_one_session() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    let (first, second) = (server.session(Some("hello")), server.session(Some("hello")));
    for session in [&first, &second] {
        server.until_turn(session);
    }
    let (_, record) = server.call("GET", &format!("/v1/sessions/{first}"), &Value::Null);
    let native = record["native_session"].as_str().unwrap();
    let alike = first
        .chars()
        .zip(second.chars())
        .take_while(|(one, other)| one == other);
    let alike = alike.count();
    assert!(alike > 0, "ids of the same time begin alike");
    let table: [(&str, i32, &str); 9] = [
        (&first, 0, "I hear you."),
        (&first[..=alike], 0, "I hear you."),
        (native, 0, "I hear you."),
        (&native[..8], 0, "I hear you."),
        (&first[..alike], 2, "is ambiguous"),
        (&first[..1], 2, "is ambiguous"),
        ("ffffffff", 6, "hint: "),
        ("../../etc", 6, "hint: "),
        ("%2e%2e?x=1#\u{1b}[31m", 6, "hint: "),
    ];
    for command in [&["attach"][..], &["sessions", "show"]] {
        for (id, code, text) in table {
            let arguments = [command, &[id]].concat();
            let ran = match command {
                ["attach"] => run(&mut server.falconer(&arguments), ""),
                _ => run(place.falconer().args(&arguments), ""),
            };
            // What cannot be an id at all is a wrong argument where there is no server to ask.
            let is_expected = ran.code == Some(code) || (code == 6 && ran.code == Some(2));
            assert!(is_expected, "{arguments:?}: {:?} {}", ran.code, ran.stderr);
            let said = ran.stdout + &ran.stderr;
            assert!(said.contains(text), "{arguments:?}: {said}");
            assert!(!said.contains("\u{1b}[31m"), "{said}");
        }
    }
}

#[test]
fn a_changed_configuration_counts_for_the_next_run_and_a_broken_one_for_none() {
    let place = Place::new();
    std::fs::write(place.path().join("scenario.json"), MODEL).unwrap();
    let mut server = Hosted::at(&place, "127.0.0.1:0", |_| ());
    let mut said = server.stderr();
    let config = place.path().join("home/.config/falconer/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    // Whether the call was denied without asking anybody.
    let denied = |server: &Hosted<'_>| {
        let session = server.session(Some("touch it"));
        let asked = format!("/v1/requests?state=pending&session={session}");
        let ended = format!("/v1/sessions/{session}/events?types=turn.completed");
        server.until(|server| {
            let (_, asked) = server.call("GET", &asked, &Value::Null);
            let (_, ended) = server.call("GET", &ended, &Value::Null);
            match (asked["requests"].get(0), ended["events"].get(0)) {
                (Some(_), _) => Some(false),
                (None, Some(_)) => Some(true),
                (None, None) => None,
            }
        })
    };
    assert!(!denied(&server), "nothing is configured yet");
    std::fs::write(&config, "[run]\ndeny = ['Bash']\n").unwrap();
    assert!(said.any(|line| line.contains("configuration changed")));
    assert!(denied(&server), "Bash is denied now");
    std::fs::write(&config, "[run]\ndney = ['Bash']\n").unwrap();
    assert!(said.any(|line| line.contains("`run.deny`") && line.contains("the one before stays")));
    assert!(denied(&server), "the rule before stays");
    std::fs::remove_file(&config).unwrap();
    assert!(said.any(|line| line.contains("configuration changed")));
    assert!(!denied(&server), "there is no rule any more");
    // A project narrows, in a server too.
    std::fs::write(
        place.path().join("work/.falconer.toml"),
        "run.deny = ['Bash']\n",
    )
    .unwrap();
    assert!(denied(&server), "the project denies it");
}
