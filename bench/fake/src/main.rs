//! A fake CLI for benchmarks: accepts any arguments, speaks just enough of the
//! protocol, and writes faster than anyone reads.
//!
//! `BENCH_MODE` says what to play, `BENCH_REPORT` names a file for what it
//! measured itself. It is not for tests: the test kit has a scripted engine.

mod input;
mod odd;
mod payload;
mod round_trip;
mod slow;
mod tree;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd as _;

use input::Input;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments
        .iter()
        .any(|argument| argument == "--version" || argument == "-v")
    {
        return writeln!(io::stdout(), "2.1.325 (Claude Code)");
    }
    // Unbuffered: every message is written whole, and nothing is copied on the way.
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    // With a prompt among the arguments nobody writes to stdin.
    let is_conversation = arguments
        .windows(2)
        .any(|pair| pair[0] == "--input-format" && pair[1] == "stream-json")
        || arguments
            .iter()
            .any(|argument| argument == "--input-format=stream-json");
    let mut input = Input::new();
    if is_conversation {
        input.wait_for_prompt(&mut output)?;
    }
    play(&mut input, &mut output)?;
    output.flush()?;
    if is_conversation {
        input.wait_for_end(&mut output)?;
    }
    Ok(())
}

fn play(input: &mut Input, output: &mut impl Write) -> io::Result<()> {
    let mode = std::env::var("BENCH_MODE").unwrap_or_else(|_| "hello".to_owned());
    if mode == "tree" {
        // Whoever sees the first message must find the whole tree.
        tree::grow()?;
    }
    output.write_all(payload::INIT.as_bytes())?;
    match mode.as_str() {
        "mixed" => payload::write_mixed(output)?,
        "big" => payload::write_big(output, 500, 2_000_000)?,
        "line20" => payload::write_big(output, 1, 20_000_000)?,
        "hello" => output.write_all(payload::assistant("hello").as_bytes())?,
        "rt_perm" => round_trip::run(round_trip::Kind::Permission, input, output)?,
        "rt_hook" => round_trip::run(round_trip::Kind::Hook, input, output)?,
        "rt_mcp" => round_trip::run(round_trip::Kind::Mcp, input, output)?,
        "slow" => slow::run(output)?,
        "odd" => odd::run(input, output)?,
        "tree" => tree::linger(output)?,
        other => return Err(io::Error::other(format!("unknown BENCH_MODE `{other}`"))),
    }
    output.write_all(payload::RESULT.as_bytes())?;
    output.write_all(payload::IDLE.as_bytes())
}

/// Writes what was measured where the driver will look for it.
fn report(json: &str) -> io::Result<()> {
    match std::env::var_os("BENCH_REPORT") {
        Some(file) => std::fs::write(file, json),
        None => Ok(()),
    }
}
