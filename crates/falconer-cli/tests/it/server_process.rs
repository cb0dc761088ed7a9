//! `falconer serve` as a process, and what a client of it does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// No wait of a test is longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// A server that runs, until it is ended or dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    pub(crate) link: String,
    pub(crate) token: String,
}

impl Server {
    /// Starts this command and waits until it has said where it listens.
    pub(crate) fn start(command: &mut Command, state: &Path) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut link = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut link).unwrap();
        let link = link.trim().to_owned();
        let rest = link.strip_prefix("http://").expect("it prints a link");
        let address = rest.split('/').next().unwrap().to_owned();
        let token = std::fs::read_to_string(state.join("token")).unwrap();
        Self {
            child,
            address,
            link,
            token: token.trim().to_owned(),
        }
    }

    /// Its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    fn request(&self, version: &str, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let request = format!(
            "{method} {path} {version}\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// The status and the body.
    pub(crate) fn call(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut stream = self.request("HTTP/1.1", method, path, &body);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    /// What is made, or the test is over.
    pub(crate) fn made(&self, path: &str, body: &Value) -> Value {
        let (status, made) = self.call("POST", path, Some(body));
        assert!((200..300).contains(&status), "{path}: {status} {made}");
        made
    }

    /// Follows a session from its beginning.
    pub(crate) fn follow(&self, session: &Value) -> Frames {
        self.frames(session, 0)
    }

    /// Follows a session from where it was when this was told about it.
    pub(crate) fn follow_from_now(&self, session: &Value) -> Frames {
        self.frames(session, session["head"].as_u64().unwrap())
    }

    /// Follows a session after this many events.
    pub(crate) fn follow_from(&self, session: &Value, after: usize) -> Frames {
        self.frames(session, after as u64)
    }

    fn frames(&self, session: &Value, after: u64) -> Frames {
        let path = format!("{}/stream?after={after}", session["url"].as_str().unwrap());
        // Version 1.0 has no chunks, so that the body is the stream.
        Frames(BufReader::new(self.request("HTTP/1.0", "GET", &path, "")))
    }

    /// Tells it to end and waits for it.
    pub(crate) fn end(mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }

    /// Kills it without a word, as a power failure would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The frames of a stream.
pub(crate) struct Frames(BufReader<TcpStream>);

impl Frames {
    /// The next event of a type; those before it are passed over.
    pub(crate) fn event(&mut self, kind: &str) -> Value {
        let mut passed = Vec::new();
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line);
            let is_more = read.is_ok_and(|bytes| bytes > 0);
            assert!(is_more, "the stream ended without {kind}: {passed:#?}");
            let Some(data) = line.strip_prefix("data: ") else {
                continue;
            };
            let event: Value = serde_json::from_str(data).unwrap();
            if event["type"] == kind {
                return event;
            }
            passed.push(event["type"].to_string());
        }
    }
}
