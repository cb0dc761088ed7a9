//! `falconer demo` on a terminal and in a pipe.

use crate::program::{Place, run};
use crate::terminal::Terminal;

fn is_clean(place: &Place) -> bool {
    let entries = std::fs::read_dir(place.path()).unwrap().flatten();
    !entries.into_iter().any(|entry| {
        entry
            .file_name()
            .to_string_lossy()
            .contains("falconer-demo")
    })
}

#[test]
fn in_a_pipe_it_answers_itself_says_so_and_leaves_nothing() {
    let place = Place::new();
    let ran = run(place.falconer().arg("demo"), "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for text in [
        "no key, no network",
        "the demo answers, because stdin is not a terminal",
        "▸ Read  fahrenheit.sh",
        "  │ - echo $((celsius * 9 / 5 + 23))\n  │ + echo $((celsius * 9 / 5 + 32))\n",
        "▸ Bash  sh test.sh",
        "│ all good",
        "Done\n",
        "tokens in",
        "$0.0",
    ] {
        assert!(
            ran.stdout.contains(text),
            "{text:?} is not in\n{}",
            ran.stdout
        );
    }
    assert!(!ran.stdout.contains('\u{1b}'), "no colour in a pipe");
    assert_eq!(ran.stderr, "");
    assert!(is_clean(&place));
    let home: Vec<_> = std::fs::read_dir(place.path().join("home"))
        .unwrap()
        .collect();
    assert!(home.is_empty(), "the home of the user is not touched");
}

#[test]
fn with_yes_it_does_not_ask_and_with_keep_it_keeps_the_project() {
    let place = Place::new();
    let ran = run(place.falconer().args(["demo", "--yes", "--keep"]), "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("yes (--yes)"), "{}", ran.stdout);
    let (_, kept) = ran.stdout.split_once("The project was kept in ").unwrap();
    let kept = kept.lines().next().unwrap();
    let script = std::fs::read_to_string(format!("{kept}/fahrenheit.sh")).unwrap();
    assert!(script.contains("+ 32"));
}

#[test]
fn on_a_terminal_it_asks_and_does_what_is_answered() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, "demo", &[]);
    terminal.expect("asked on this terminal");
    terminal.expect("make this change? [y]es, [n]o (reason), [a]lways, [e]dit, [s]top: ");
    terminal.type_in("what?\n");
    terminal.expect("make this change? ");
    terminal.type_in("y\n");
    terminal.expect("run this? [y]es, [n]o (reason), [a]lways, [e]dit, [s]top: ");
    terminal.type_in("e\n");
    terminal.expect("command: ");
    terminal.type_in("sh test.sh && echo edited\n");
    terminal.expect("this would run");
    terminal.expect("sh test.sh && echo edited");
    terminal.expect("run this? ");
    terminal.type_in("y\n");
    terminal.expect("edited");
    terminal.expect("Next, with a real model");
    assert_eq!(terminal.code(), Some(0));
    assert!(is_clean(&place));
}

#[test]
fn a_no_changes_nothing_and_is_understood() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, "demo", &[("NO_COLOR", "1")]);
    terminal.expect("make this change? ");
    terminal.type_in("n\n");
    terminal.expect("All right, fahrenheit.sh stays as it is.");
    assert_eq!(terminal.code(), Some(0));
    assert!(!terminal.seen.contains('\u{1b}'), "{:?}", terminal.seen);
}

#[test]
fn colours_are_only_shown_where_they_are_wanted() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, "demo", &[]);
    terminal.expect("\u{1b}[");
    terminal.expect("make this change? ");
    terminal.type_in("\u{3}");
    terminal.expect("press Ctrl-C again");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.code(), Some(130), "Ctrl-C");
    assert!(is_clean(&place));
}

#[test]
fn served_it_shows_a_page_and_a_session_that_asks_and_leaves_nothing() {
    use std::io::{BufRead, BufReader};
    let place = Place::new();
    let mut child = crate::program::start(place.falconer().args(["demo", "--serve"]));
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut link = String::new();
    stdout.read_line(&mut link).unwrap();
    let (url, code) = link.trim().split_once("/#code=").expect(&link);
    let address = url.trim_start_matches("http://").to_owned();
    let ask = |request: String| {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let body = serde_json::json!({ "code": code }).to_string();
    let login = ask(format!(
        "POST /v1/login HTTP/1.1\r\nhost: {address}\r\norigin: {url}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ));
    let cookie = login
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase()
                .starts_with("set-cookie: ")
                .then(|| line[12..].to_owned())
        })
        .expect(&login);
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let waiting = ask(format!(
            "GET /v1/requests?state=pending HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\n\
             connection: close\r\n\r\n"
        ));
        if waiting.contains("fahrenheit.sh") {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{waiting}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let pid = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-s", "INT", &pid])
        .status()
        .unwrap();
    let ran = crate::program::finish(child);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(is_clean(&place));
}
