//! A child process and its pipes, with nothing around them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) struct Engine {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Engine {
    /// Starts the fake CLI, says `initialize`, and sends the prompt after the answer.
    pub(crate) fn start() -> Engine {
        let mut child = Command::new(bench_probe::cli())
            .args([
                "--print",
                "--verbose",
                "--output-format",
                "stream-json",
                "--input-format",
                "stream-json",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fake CLI starts");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::with_capacity(256 * 1024, child.stdout.take().expect("a pipe"));
        let mut engine = Engine {
            child,
            stdin,
            stdout,
        };
        engine.write("{\"type\":\"control_request\",\"request_id\":\"1\",\"request\":{\"subtype\":\"initialize\"}}\n");
        let mut line = Vec::new();
        engine.read(&mut line);
        engine.write(
            "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"},\"parent_tool_use_id\":null,\"session_id\":\"\"}\n",
        );
        engine
    }

    pub(crate) fn write(&mut self, line: &str) {
        self.stdin
            .write_all(line.as_bytes())
            .expect("a line to stdin");
    }

    /// Reads a line into `line`; false at the end.
    pub(crate) fn read(&mut self, line: &mut Vec<u8>) -> bool {
        line.clear();
        self.stdout
            .read_until(b'\n', line)
            .expect("a line from stdout")
            > 0
    }

    pub(crate) fn stop(self) {
        let Engine {
            mut child,
            stdin,
            stdout,
        } = self;
        drop((stdin, stdout));
        child.wait().expect("the fake CLI ends");
    }
}
