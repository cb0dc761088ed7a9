//! `cargo xtask fuzz`: attacks that go on for as long as they are told.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::conformance::{Install, Kit};
use crate::process;
use crate::report;
use crate::workspace::{Workspace, cargo};

const DEFAULT_MINUTES: u64 = 60;

/// Their short form is in every test run.
const TESTS: [&str; 3] = [
    "shell_fuzz::what_is_judged_read_only_only_reads",
    "shell_fuzz::rules::what_a_rule_allows_runs_nothing_else",
    "shell_fuzz::confined::nothing_gets_out_of_confinement",
];

#[derive(Debug, PartialEq, Eq)]
struct Options {
    minutes: u64,
    seed: u64,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let [what, rest @ ..] = arguments else {
            bail!("say what to attack: `cargo xtask fuzz shell`");
        };
        if what != "shell" {
            bail!("`{what}` cannot be attacked\nhint: use `cargo xtask fuzz shell`");
        }
        let mut options = Self {
            minutes: DEFAULT_MINUTES,
            seed: 1,
        };
        let mut rest = rest.iter();
        while let Some(name) = rest.next() {
            let value = rest
                .next()
                .with_context(|| format!("`{name}` needs a number"))?;
            let number = value
                .parse()
                .with_context(|| format!("`{value}` is not a number for `{name}`"))?;
            match name.as_str() {
                "--minutes" => options.minutes = number,
                "--seed" => options.seed = number,
                other => bail!("unknown option `{other}`\nhint: use --minutes or --seed"),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    let kit = Kit::prepare(workspace, Install::Allowed, &mut |line| report::line(line))?;
    // Half of the time for judged commands, the rest for rules and for confinement.
    let shares = [2, 4, 4];
    let mut failed = Vec::new();
    for (test, share) in TESTS.into_iter().zip(shares) {
        let minutes = (options.minutes / share).max(1);
        report::line(&format!(
            "==> {test} for {minutes} minutes, seed {}",
            options.seed
        ));
        let mut command = cargo();
        command
            .current_dir(&workspace.root)
            .envs(kit.environment())
            .env("FALCONER_FUZZ_MINUTES", minutes.to_string())
            .env("FALCONER_FUZZ_SEED", options.seed.to_string())
            .args([
                "test",
                "--release",
                "--package",
                "falconer-engine",
                "--test",
                "it",
                "--",
            ])
            .args(["--exact", "--nocapture", test]);
        let limit = Duration::from_secs(60 * (2 * minutes + 30));
        if !process::stream(&mut command, limit, report::line)?.success() {
            failed.push(test);
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options> {
        let arguments: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Options::parse(&arguments)
    }

    #[test]
    fn options_have_defaults() {
        let all = parse("shell --minutes 5 --seed 7").unwrap();
        assert_eq!(
            all,
            Options {
                minutes: 5,
                seed: 7
            }
        );
        let none = parse("shell").unwrap();
        assert_eq!(
            none,
            Options {
                minutes: DEFAULT_MINUTES,
                seed: 1
            }
        );
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in [
            "",
            "page",
            "shell --minutes",
            "shell --minutes x",
            "shell --hours 1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
