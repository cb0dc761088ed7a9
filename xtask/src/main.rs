//! Automation of this repository, run as `cargo xtask <command>`.
//!
//! Everything a person or a build machine does to this repository beyond one
//! line of shell lives here, in Rust. Nothing in the product depends on it.

mod bench;
mod bench_command;
mod bench_page;
mod conformance;
mod fuzz;
mod openapi;
mod process;
mod report;
mod size;
mod soak;
mod tally;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};
use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask <command>

  test [--only <filter>] [--no-install]
        install what the tests need, then run every check and every test;
        --only runs just the tests whose name contains <filter>
  openapi
        write the server's OpenAPI file and the TypeScript client
  fuzz shell [--minutes <n>] [--seed <n>]
        attack the judgement of shell commands and their confinement
        (60 minutes)
  soak  run the long tests of the server at their full size (minutes)
  tidy  check what a tool can check about this repository
  bench sdk [--rounds <n>] [--only <table>]
        measure the SDK beside its peers, in one run
  bench command
        measure how long `falconer` takes to say something
  bench page
        measure the page in a browser";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            report::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    let Some((command, rest)) = arguments.split_first() else {
        bail!("no command given\n\n{USAGE}");
    };
    match command.as_str() {
        "test" => test::run(&Workspace::load()?, &test::Options::parse(rest)?),
        "openapi" => openapi::run(&Workspace::load()?),
        "fuzz" => fuzz::run(&Workspace::load()?, rest),
        "soak" => soak::run(&Workspace::load()?),
        "tidy" => tidy::run(&Workspace::load()?),
        "bench" => bench::run(&Workspace::load()?, rest),
        "help" | "--help" | "-h" => {
            report::line(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        other => bail!("`{other}` is not a command\n\n{USAGE}"),
    }
}
