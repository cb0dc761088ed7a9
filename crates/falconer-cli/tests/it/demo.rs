//! `falconer demo` on a terminal and in a pipe.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Place, run};

const SOON: Duration = Duration::from_secs(60);

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
        "answered by the demo, because stdin is not a terminal",
        "▸ Read  fahrenheit.sh",
        "  - echo $((celsius * 9 / 5 + 23))\n  + echo $((celsius * 9 / 5 + 32))\n",
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

/// A program on a terminal of its own, by `script`.
struct Terminal {
    child: std::process::Child,
    seen: String,
    output: std::sync::mpsc::Receiver<Vec<u8>>,
}

impl Terminal {
    fn start(place: &Place, variables: &[(&str, &str)]) -> Self {
        let mut command: Command = place.command("script");
        let program = format!("{} demo", env!("CARGO_BIN_EXE_falconer"));
        let mut child = command
            .args(["-qefc", &program, "/dev/null"])
            .env("TERM", "xterm")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let (sender, output) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = stdout.read(&mut chunk) {
                if sender.send(chunk[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            seen: String::new(),
            output,
        }
    }

    /// Waits until the text has come after what was waited for before.
    fn expect(&mut self, text: &str) {
        let deadline = Instant::now() + SOON;
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(chunk) => self.seen += &String::from_utf8_lossy(&chunk),
                Err(_) => panic!("{text:?} did not come; there was:\n{}", self.seen),
            }
        }
    }

    fn type_in(&mut self, text: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    fn code(&mut self) -> Option<i32> {
        let deadline = Instant::now() + SOON;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < deadline, "it did not end:\n{}", self.seen);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn on_a_terminal_it_asks_and_does_what_is_answered() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &[]);
    terminal.expect("asked on this terminal");
    terminal.expect("make this change? [y]es, [n]o, [a]ll edits in this session: ");
    terminal.type_in("what?\n");
    terminal.expect("make this change? ");
    terminal.type_in("y\n");
    terminal.expect("run this? [y]es, [n]o, [a]lways in this session, [e]dit: ");
    terminal.type_in("e\n");
    terminal.expect("command: ");
    terminal.type_in("sh test.sh && echo edited\n");
    terminal.expect("edited");
    terminal.expect("Next, with a model");
    assert_eq!(terminal.code(), Some(0));
    assert!(is_clean(&place));
}

#[test]
fn a_no_changes_nothing_and_is_understood() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &[("NO_COLOR", "1")]);
    terminal.expect("make this change? ");
    terminal.type_in("n\n");
    terminal.expect("All right, fahrenheit.sh stays as it is.");
    assert_eq!(terminal.code(), Some(0));
    assert!(!terminal.seen.contains('\u{1b}'), "{:?}", terminal.seen);
}

#[test]
fn colours_are_only_shown_where_they_are_wanted() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &[]);
    terminal.expect("\u{1b}[");
    terminal.expect("make this change? ");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.code(), Some(130), "Ctrl-C");
    assert!(is_clean(&place));
}
