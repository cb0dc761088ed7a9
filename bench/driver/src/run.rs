//! One run of one peer: started with a clean environment, stopped at a time
//! limit, its line of JSON read.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::arguments::Arguments;
use crate::peer::{Peer, Pinning};

/// What to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job<'a> {
    /// What the client does.
    pub(crate) scenario: &'a str,
    /// What the fake CLI plays.
    pub(crate) mode: &'a str,
    pub(crate) pinning: Pinning,
    pub(crate) limit: Duration,
    /// Which odd line, if any.
    pub(crate) odd: &'a str,
}

impl<'a> Job<'a> {
    pub(crate) fn new(scenario: &'a str, mode: &'a str) -> Job<'a> {
        Job {
            scenario,
            mode,
            pinning: Pinning::Free,
            limit: Duration::from_secs(60),
            odd: "",
        }
    }
}

/// What came of it. `client` is what the peer reports, `engine` what the fake CLI measured.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) client: Option<Value>,
    pub(crate) engine: Option<Value>,
    /// Why there is no report.
    pub(crate) trouble: String,
}

impl Outcome {
    pub(crate) fn number(&self, key: &str) -> f64 {
        self.client
            .as_ref()
            .and_then(|report| report[key].as_f64())
            .unwrap_or(0.0)
    }

    pub(crate) fn count(&self, key: &str) -> usize {
        self.number(key) as usize
    }

    /// The peer's remark, or why it has none.
    pub(crate) fn note(&self) -> String {
        let note = self
            .client
            .as_ref()
            .and_then(|report| report["note"].as_str())
            .unwrap_or_default();
        let text = if note.is_empty() { &self.trouble } else { note };
        text.replace('|', "/").chars().take(70).collect()
    }

    pub(crate) fn is_unsupported(&self) -> bool {
        self.note().starts_with("unsupported")
    }
}

pub(crate) fn run(arguments: &Arguments, peer: &Peer, job: Job<'_>) -> Outcome {
    let started = Started::start(arguments, peer, job);
    let mut started = match started {
        Ok(started) => started,
        Err(error) => {
            return Outcome {
                trouble: format!("did not start: {error}"),
                ..Outcome::default()
            };
        }
    };
    let mut outcome = Outcome::default();
    let deadline = Instant::now() + job.limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match started.lines.recv_timeout(left) {
            Ok(line) => outcome.client = parse_report(&line).or(outcome.client),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                outcome.trouble = format!("HANG, stopped after {} s", job.limit.as_secs());
                break;
            }
        }
    }
    outcome.engine = started.finish();
    if outcome.client.is_none() && outcome.trouble.is_empty() {
        outcome.trouble = "ended without a report".to_owned();
    }
    outcome
}

/// A peer at work.
pub(crate) struct Started {
    child: Child,
    pub(crate) lines: Receiver<String>,
    report: PathBuf,
    home: PathBuf,
}

impl Started {
    pub(crate) fn start(
        arguments: &Arguments,
        peer: &Peer,
        job: Job<'_>,
    ) -> std::io::Result<Started> {
        let home = fresh_folder()?;
        let report = home.join("report.json");
        let mut command = peer.command(job.scenario, job.pinning);
        clean_environment(&mut command, &home);
        command
            .env("BENCH_CLI", arguments.binaries.join("bench-fake"))
            .env("BENCH_MODE", job.mode)
            .env("BENCH_ODD", job.odd)
            .env("BENCH_REPORT", &report)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn()?;
        let lines = lines_of(&mut child);
        Ok(Started {
            child,
            lines,
            report,
            home,
        })
    }

    /// What the fake CLI has measured so far.
    pub(crate) fn engine_report(&self) -> Option<Value> {
        serde_json::from_str(&std::fs::read_to_string(&self.report).ok()?).ok()
    }

    /// Ends the peer and removes its folder.
    pub(crate) fn finish(&mut self) -> Option<Value> {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let engine = self.engine_report();
        let _ = std::fs::remove_dir_all(&self.home);
        engine
    }
}

/// Only what a program needs to start; nothing of the user's own settings.
pub(crate) fn clean_environment(command: &mut Command, home: &std::path::Path) {
    let keep = ["PATH", "FALCONER_TS_SDK"];
    command.env_clear();
    command.envs(
        keep.iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?))),
    );
    command
        .env("HOME", home)
        .env("ANTHROPIC_API_KEY", "sk-ant-not-a-key")
        .current_dir(home);
}

fn lines_of(child: &mut Child) -> Receiver<String> {
    let (tx, rx) = channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if tx.send(line).is_err() {
                    return;
                }
            }
        });
    }
    rx
}

fn parse_report(line: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(line).ok()?;
    value.get("received").is_some().then_some(value)
}

/// A folder of our own for one run.
pub(crate) fn fresh_folder() -> std::io::Result<PathBuf> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static COUNTER: AtomicUsize = AtomicUsize::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let folder =
        std::env::temp_dir().join(format!("falconer-bench-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}
