//! What the native engine takes beside the official CLI, so that a regression fails a test.
//!
//! Processor time and memory are those of the process alone, so a busy machine changes little, and
//! the bounds are far from what is measured: a debug build takes a tenth of the time and a fifth of
//! the memory. `cargo xtask bench engine` measures what a release build does.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use falconer_testkit::{RealCli, clean_env};

/// A session that waits for its first prompt.
#[derive(Debug, Clone, Copy)]
struct Taken {
    /// Processor time since the start, in hundredths of a second.
    time: u64,
    /// The most memory it had, in KiB.
    memory: u64,
}

/// Starts an engine, greets it and looks at what it has taken when it answers.
fn start(program: &Path) -> Taken {
    let home = tempfile::tempdir().unwrap();
    let mut engine = Command::new(program)
        .args(["--print", "--verbose", "--output-format=stream-json"])
        .arg("--input-format=stream-json")
        .env_clear()
        .envs(clean_env(home.path(), "http://127.0.0.1:9"))
        .current_dir(home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let hello = r#"{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}"#;
    let mut stdin = engine.stdin.take().unwrap();
    writeln!(stdin, "{hello}").unwrap();
    let mut lines = BufReader::new(engine.stdout.take().unwrap()).lines();
    let answer = lines.find(|line| line.as_ref().unwrap().contains("control_response"));
    assert!(answer.is_some(), "{} does not answer", program.display());
    let about =
        |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", engine.id())).unwrap();
    let (stat, status) = (about("stat"), about("status"));
    // Behind the name, which may hold anything, the fields 3 and on.
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    let number = |text: &str| text.parse::<u64>().unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let taken = Taken {
        time: number(fields[11]) + number(fields[12]),
        memory: number(peak.split_whitespace().next().unwrap()),
    };
    engine.kill().unwrap();
    engine.wait().unwrap();
    taken
}

/// The least of three: whatever disturbs a start makes it longer.
fn least(program: &Path) -> Taken {
    let starts = [(); 3].map(|()| start(program));
    Taken {
        time: starts.iter().map(|taken| taken.time).min().unwrap(),
        memory: starts.iter().map(|taken| taken.memory).min().unwrap(),
    }
}

#[test]
fn a_start_takes_a_fraction_of_the_official_one() {
    let ours = least(Path::new(env!("CARGO_BIN_EXE_falconer-claude")));
    let official = least(RealCli::find().unwrap().path());
    assert!(
        official.time >= 10,
        "too short to be compared: {official:?}"
    );
    assert!(ours.time * 4 <= official.time, "{ours:?}, {official:?}");
    assert!(ours.memory * 3 <= official.memory, "{ours:?}, {official:?}");
}
