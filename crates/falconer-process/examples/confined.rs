//! Runs a program confined to reading: `confined PROGRAM [ARGUMENT]…`.
//!
//! With `--compare N` first, it starts the program N times free and N times confined instead, and
//! prints the median times.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use falconer_process::{ExitStatus, Spec, spawn};
use tokio::io::AsyncReadExt;

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Failure> {
    let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let count = match words.first() {
        Some(word) if word == "--compare" => {
            let count = words.get(1).and_then(|count| count.to_str()?.parse().ok());
            words.drain(..2.min(words.len()));
            Some(count.ok_or("--compare needs a number")?)
        }
        _ => None,
    };
    match count {
        Some(count) => compare(&words, count).await,
        None => run(&words).await,
    }
}

fn spec(words: &[OsString]) -> Result<Spec, Failure> {
    let (program, args) = words.split_first().ok_or("a program is needed")?;
    let mut spec = Spec::new(program);
    spec.args = args.to_vec();
    spec.env = std::env::vars_os().collect();
    Ok(spec)
}

async fn run(words: &[OsString]) -> Result<ExitCode, Failure> {
    let process = spawn(spec(words)?.confined()?).await?;
    drop(process.stdin);
    let mut stdout = process.handle.output(process.stdout)?;
    let mut stderr = process.handle.output(process.stderr)?;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    tokio::try_join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut err))?;
    io::stdout().write_all(&out)?;
    io::stderr().write_all(&err)?;
    Ok(match process.handle.exited().await.status {
        ExitStatus::Code(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        _ => ExitCode::FAILURE,
    })
}

async fn compare(words: &[OsString], count: usize) -> Result<ExitCode, Failure> {
    let (mut free, mut confined) = (Vec::new(), Vec::new());
    for _ in 0..count.max(1) {
        free.push(time(spec(words)?).await?);
        confined.push(time(spec(words)?.confined()?).await?);
    }
    free.sort();
    confined.sort();
    let middle = free.len() / 2;
    let line = format!(
        "median of {}: {:?} free, {:?} confined; shortest: {:?} free, {:?} confined\n",
        free.len(),
        free[middle],
        confined[middle],
        free[0],
        confined[0]
    );
    io::stdout().write_all(line.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

async fn time(spec: Spec) -> Result<Duration, Failure> {
    let begun = Instant::now();
    let process = spawn(spec).await?;
    process.handle.exited().await;
    Ok(begun.elapsed())
}
