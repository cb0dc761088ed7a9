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

/// A command: its name, its arguments, what it does.
struct Command {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&Workspace, &[String]) -> Result<ExitCode>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        arguments: "[--only <filter>] [--no-install]",
        about: "install what the tests need, then run every check and every test;\n\
                --only runs just the tests whose name contains <filter>",
        run: |workspace, rest| test::run(workspace, &test::Options::parse(rest)?),
    },
    Command {
        name: "tidy",
        arguments: "",
        about: "check what a tool can check about this repository",
        run: |workspace, _| tidy::run(workspace),
    },
    Command {
        name: "openapi",
        arguments: "",
        about: "write the server's OpenAPI file and the TypeScript client",
        run: |workspace, _| openapi::run(workspace),
    },
    Command {
        name: "fuzz",
        arguments: "shell [--minutes <n>] [--seed <n>]",
        about: "attack the judgement of shell commands and their confinement (60 minutes)",
        run: fuzz::run,
    },
    Command {
        name: "soak",
        arguments: "",
        about: "run the long tests of the server at their full size (minutes)",
        run: |workspace, _| soak::run(workspace),
    },
    Command {
        name: "bench",
        arguments: "<what> [arguments of its driver]",
        about: "measure something beside its peers, in one run:",
        run: bench::run,
    },
];

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
    let Some((name, rest)) = arguments.split_first() else {
        bail!("no command given\n\n{}", usage());
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        report::line(&usage());
        return Ok(ExitCode::SUCCESS);
    }
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(&Workspace::load()?, rest),
        None => bail!("`{name}` is not a command\n\n{}", usage()),
    }
}

fn usage() -> String {
    let mut text = "usage: cargo xtask <command>\n".to_owned();
    for command in COMMANDS {
        let head = format!("{} {}", command.name, command.arguments);
        text += &format!("\n  {}\n", head.trim_end());
        for line in command.about.lines() {
            text += &format!("      {line}\n");
        }
    }
    for (name, about, _) in bench::MEASURED {
        text += &format!("        {name:<8} {about}\n");
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What can be run is in the table, and the table is what is shown.
    #[test]
    fn the_usage_names_every_command_and_everything_that_is_measured() {
        let usage = usage();
        for name in COMMANDS.iter().map(|command| command.name) {
            assert!(usage.contains(&format!("\n  {name}")), "{name}: {usage}");
        }
        for (name, ..) in bench::MEASURED {
            assert!(
                usage.contains(&format!("\n        {name} ")),
                "{name}: {usage}"
            );
        }
        assert!(
            usage.lines().all(|line| line.chars().count() <= 80),
            "{usage}"
        );
    }
}
