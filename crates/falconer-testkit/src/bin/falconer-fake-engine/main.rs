//! An engine for tests: speaks the stream-json protocol and does what a script says.
//!
//! Plain std and synchronous, so that it starts in about a millisecond.

mod bench;
mod dump;
mod messages;
mod misbehave;
mod play;
mod replay;
mod wire;

use std::path::PathBuf;
use std::process::ExitCode;

use falconer_testkit::{EngineScript, FakeEngine};

use play::Play;

/// The reason the engine ends before its script does.
#[derive(Debug)]
enum Stop {
    /// With this exit code.
    Exit(u8),
    /// The input has ended.
    Eof,
    /// The host is gone, or a file cannot be used.
    Io(std::io::Error),
    /// The script or cassette is of no use, or the host departed from it.
    Wrong(String),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

fn main() -> ExitCode {
    let argv: Vec<String> = std::env::args().skip(1).collect();
    match run(&argv) {
        Ok(code) | Err(Stop::Exit(code)) => ExitCode::from(code),
        Err(Stop::Eof) => ExitCode::SUCCESS,
        Err(Stop::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::from(1),
        Err(Stop::Io(error)) => fail(&error.to_string()),
        Err(Stop::Wrong(text)) => fail(&text),
    }
}

fn run(argv: &[String]) -> Result<u8, Stop> {
    let script = script(argv)?;
    if argv.iter().any(|flag| flag == "--version" || flag == "-v") {
        return wire::print(&format!("{} (Claude Code)", script.version));
    }
    if script.ignore_sigterm {
        misbehave::ignore_sigterm(argv)?;
    }
    let wire = wire::Wire::new(dump::Dump::start(argv)?);
    match chosen(argv, "--fake-cassette", FakeEngine::CASSETTE) {
        Some(path) => replay::run(&path, wire, session(argv)),
        None => Play::new(script, session(argv), wire).run(),
    }
}

/// The script to play; without one every prompt is answered.
fn script(argv: &[String]) -> Result<EngineScript, Stop> {
    let Some(path) = chosen(argv, "--fake-script", FakeEngine::SCRIPT) else {
        return Ok(EngineScript::echo());
    };
    let wrong = |error: String| Stop::Wrong(format!("script {}: {error}", path.display()));
    let json = std::fs::read(&path).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_slice(&json).map_err(|error| wrong(error.to_string()))
}

/// A file named by a flag or by the environment.
fn chosen(argv: &[String], flag: &str, variable: &str) -> Option<PathBuf> {
    let by_flag = value(argv, flag).map(PathBuf::from);
    by_flag.or_else(|| std::env::var_os(variable).map(PathBuf::from))
}

/// The session id that the host asks for.
fn session(argv: &[String]) -> Option<String> {
    value(argv, "--session-id").or_else(|| value(argv, "--resume"))
}

/// The value of a flag, as `--flag=value` or `--flag value`.
fn value(argv: &[String], flag: &str) -> Option<String> {
    let mut rest = argv.iter();
    while let Some(argument) = rest.next() {
        match argument.strip_prefix(flag) {
            Some("") => return rest.next().cloned(),
            Some(joined) if joined.starts_with('=') => return Some(joined[1..].to_owned()),
            Some(_) | None => {}
        }
    }
    None
}

/// Says on stderr why the engine gives up.
fn fail(text: &str) -> ExitCode {
    wire::complain(&format!("falconer-fake-engine: {text}"));
    ExitCode::from(70)
}
