//! `falconer` on a pseudo-terminal of its own.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::Place;

const SOON: Duration = Duration::from_secs(60);

/// A program on a terminal of its own, by `script`.
pub(crate) struct Terminal {
    child: std::process::Child,
    /// What has come after what was waited for.
    pub(crate) seen: String,
    /// The device, to change its size.
    device: String,
    output: std::sync::mpsc::Receiver<Vec<u8>>,
}

impl Terminal {
    /// `falconer` with these arguments, as a shell reads them, in a window of the usual size.
    pub(crate) fn start(place: &Place, arguments: &str, variables: &[(&str, &str)]) -> Self {
        Self::sized(place, 100, arguments, variables)
    }

    /// The same in a window of so many columns.
    pub(crate) fn sized(
        place: &Place,
        columns: u16,
        arguments: &str,
        variables: &[(&str, &str)],
    ) -> Self {
        let mut command: Command = place.command("script");
        let falconer = env!("CARGO_BIN_EXE_falconer");
        let program = format!(
            "stty -echo cols {columns} rows 30; echo \"at $(tty) now\"; exec '{falconer}' {arguments}"
        );
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
        let mut terminal = Self {
            child,
            seen: String::new(),
            device: String::new(),
            output,
        };
        terminal.expect("at ");
        terminal.device = terminal.up_to(" now");
        terminal
    }

    /// Gives the window another width; the program is told by the system.
    pub(crate) fn resize(&self, columns: u16) {
        let columns = columns.to_string();
        let resized = Command::new("stty")
            .args(["-F", &self.device, "cols", &columns])
            .status();
        assert!(resized.unwrap().success());
    }

    /// Waits until the text has come after what was waited for before.
    pub(crate) fn expect(&mut self, text: &str) {
        self.up_to(text);
    }

    /// The same, and gives what came before it.
    pub(crate) fn up_to(&mut self, text: &str) -> String {
        self.first_of(&[text]).1
    }

    /// Waits for one of several texts: its number, and what came before it.
    pub(crate) fn first_of(&mut self, texts: &[&str]) -> (usize, String) {
        let deadline = Instant::now() + SOON;
        loop {
            let found = texts.iter().enumerate();
            let found = found.filter_map(|(number, text)| Some((self.seen.find(text)?, number)));
            if let Some((at, number)) = found.min() {
                let before = self.seen[..at].to_owned();
                self.seen.drain(..at + texts[number].len());
                return (number, before);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(chunk) => self.seen += &String::from_utf8_lossy(&chunk),
                Err(_) => panic!("{texts:?} did not come; there was:\n{}", self.seen),
            }
        }
    }

    /// What has come since, as far as it is here.
    pub(crate) fn so_far(&mut self) -> &str {
        while let Ok(chunk) = self.output.try_recv() {
            self.seen += &String::from_utf8_lossy(&chunk);
        }
        &self.seen
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Everything up to the end of the program.
    pub(crate) fn rest(&mut self) -> String {
        self.code();
        while let Ok(chunk) = self.output.recv_timeout(Duration::from_secs(5)) {
            self.seen += &String::from_utf8_lossy(&chunk);
        }
        std::mem::take(&mut self.seen)
    }

    pub(crate) fn code(&mut self) -> Option<i32> {
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
