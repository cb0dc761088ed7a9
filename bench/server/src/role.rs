//! The processes that are measured: this program again, as a server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Says where a server is.
pub(crate) const READY: &str = "READY ";

/// A process that serves, until it is killed or dropped.
pub(crate) struct Serving {
    child: Child,
    pub(crate) url: String,
    pub(crate) token: String,
    /// From its start until it had answered a request.
    pub(crate) start: Duration,
}

impl Serving {
    /// Starts this program as `serve` or `echo`.
    pub(crate) fn start(role: &str, folder: &Path) -> Self {
        let before = Instant::now();
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .arg(role)
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let output = child.stdout.take().expect("its output");
        let mut lines = BufReader::new(output).lines();
        let line = lines.next().expect("a line").expect("a line");
        let said = line.strip_prefix(READY).expect("where it is");
        let (url, token) = said.split_once(' ').expect("where, and a token");
        // What it says is not enough: the first answer counts.
        let address = url.strip_prefix("http://").expect("an address");
        let answer = status(address, "/ready");
        let start = before.elapsed();
        let expected = if role == "serve" { "200" } else { "404" };
        assert_eq!(answer.as_deref(), Some(expected), "{role}");
        Self {
            url: url.to_owned(),
            token: token.to_owned(),
            child,
            start,
        }
    }

    /// Resident memory in KB.
    pub(crate) fn memory(&self) -> f64 {
        memory(self.child.id())
    }
}

/// The status with which a server answers; nothing if nobody is there.
pub(crate) fn status(address: &str, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut head = String::new();
    BufReader::new(stream).read_line(&mut head).ok()?;
    head.split(' ').nth(1).map(str::to_owned)
}

/// Resident memory of a process in KB.
pub(crate) fn memory(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or(f64::NAN)
}

impl Drop for Serving {
    /// `kill -9`: nothing here says goodbye.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends this process when whoever started it is gone.
pub(crate) fn end_with_parent() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
}
