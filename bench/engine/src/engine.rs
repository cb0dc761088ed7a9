//! One engine as a process: started, spoken to, weighed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use falconer_testkit::clean_env;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A conversation over pipes.
pub(crate) struct Engine {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    _places: (TempDir, TempDir),
}

const CONVERSATION: &[&str] = &[
    "--output-format=stream-json",
    "--verbose",
    "--input-format=stream-json",
];

impl Engine {
    /// Starts a conversation.
    pub(crate) fn conversation(program: &Path, url: &str) -> Self {
        Self::start(program, url, CONVERSATION)
    }

    /// Starts a conversation with more arguments.
    pub(crate) fn conversation_with(program: &Path, url: &str, more: &[&str]) -> Self {
        Self::start(program, url, &[CONVERSATION, more].concat())
    }

    /// Starts with one prompt on the command line.
    pub(crate) fn one_shot(program: &Path, url: &str) -> Self {
        let args = ["-p", "--output-format=stream-json", "--verbose", "--", "hi"];
        let mut engine = Self::start(program, url, &args);
        engine.stdin = None;
        engine
    }

    fn start(program: &Path, url: &str, args: &[&str]) -> Self {
        let places = (tempdir(), tempdir());
        let mut child = Command::new(program)
            .args(args)
            .current_dir(places.1.path())
            .env_clear()
            .envs(clean_env(places.0.path(), url))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()));
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().expect("piped")),
            child,
            _places: places,
        }
    }

    /// Says hello and waits for the answer.
    pub(crate) fn hello(&mut self) {
        self.send(&json!({"type": "control_request", "request_id": "hello",
            "request": {"subtype": "initialize"}}));
        self.until("control_response");
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    fn send(&mut self, line: &Value) {
        let stdin = self.stdin.as_mut().expect("a conversation");
        writeln!(stdin, "{line}").expect("the engine reads");
    }

    /// Reads to the next frame of a type.
    pub(crate) fn until(&mut self, wanted: &str) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.stdout.read_line(&mut line).expect("the engine writes");
            assert!(read > 0, "the engine ended before {wanted}");
            let frame: Value = serde_json::from_str(&line).expect("JSON");
            if frame["type"] == wanted {
                return frame;
            }
        }
    }

    /// Resident memory, in megabytes.
    pub(crate) fn resident_mb(&self) -> f64 {
        field_kb(self.child.id(), "VmRSS:") / 1024.0
    }

    /// Processor time so far, in milliseconds.
    pub(crate) fn cpu_ms(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let stat = stat.unwrap_or_default();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .split_whitespace()
            .collect();
        let ticks = |index: usize| {
            fields
                .get(index)
                .and_then(|f| f.parse::<f64>().ok())
                .unwrap_or(0.0)
        };
        (ticks(11) + ticks(12)) * 10.0
    }

    /// Closes the input and waits.
    pub(crate) fn end(mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tempdir() -> TempDir {
    TempDir::new().expect("a temporary directory")
}

/// A line of `/proc/PID/status`, in kilobytes.
pub(crate) fn field_kb(pid: u32, name: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(f64::NAN)
}
