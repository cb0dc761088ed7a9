//! One check of `cargo xtask test`: a command, and how its output is counted.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::process;
use crate::report;
use crate::tally::{Counter, Tally};

/// No step may take longer: a hang must not hold up a build machine.
const LIMIT: Duration = Duration::from_secs(30 * 60);
/// How much of a failed command's output is repeated in the summary.
const TAIL_LINES: usize = 15;

/// How a step's result is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// The command is one check, judged by its exit code.
    ExitCode,
    /// The command runs tests and prints their number.
    Tests(Rest),
}

/// What a test runner's "skipped" stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// All tests were asked for, so a test not run was skipped.
    Skipped,
    /// A filter was given, so tests not run were not asked for.
    FilteredOut,
}

#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) command: Command,
    pub(super) count: Count,
}

/// What became of a step.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) command: String,
    pub(super) tally: Tally,
    /// Names of failed tests, or the last lines of a failed command.
    pub(super) details: Vec<String>,
    /// Names of tests that passed only when tried again.
    pub(super) flaky: Vec<String>,
    pub(super) took: Duration,
}

impl Step {
    pub(super) fn run(mut self) -> Outcome {
        let started = Instant::now();
        let mut counter = Counter::default();
        let mut output = Vec::new();
        let status = process::stream(&mut self.command, LIMIT, |line| {
            report::line(line);
            counter.read(line);
            output.push(line.to_owned());
        });
        let (succeeded, error) = match status {
            Ok(status) => (status.success(), None),
            Err(error) => (false, Some(format!("{error:#}"))),
        };
        let tally = self.count.tally(&counter, succeeded);
        let mut details: Vec<String> = error.into_iter().collect();
        if tally.failed > 0 {
            details.extend(explain(&counter, &output));
        }
        Outcome {
            name: self.name.to_owned(),
            command: process::shown(&self.command),
            tally,
            details,
            flaky: counter.flaky().map(str::to_owned).collect(),
            took: started.elapsed(),
        }
    }
}

impl Count {
    fn tally(self, counter: &Counter, succeeded: bool) -> Tally {
        let one = Tally {
            passed: usize::from(succeeded),
            failed: usize::from(!succeeded),
            skipped: 0,
        };
        match self {
            Count::ExitCode => one,
            Count::Tests(rest) => {
                let Some(mut tally) = counter.tally() else {
                    return no_summary(succeeded);
                };
                if rest == Rest::FilteredOut {
                    tally.skipped = 0;
                }
                if !succeeded && tally.failed == 0 {
                    tally.failed = 1;
                }
                tally
            }
        }
    }
}

/// A runner that succeeds without a summary had no tests; one that fails did not compile.
fn no_summary(succeeded: bool) -> Tally {
    Tally {
        failed: usize::from(!succeeded),
        ..Tally::default()
    }
}

fn explain(counter: &Counter, output: &[String]) -> Vec<String> {
    let names: Vec<String> = counter.failures().map(str::to_owned).collect();
    if !names.is_empty() {
        return names;
    }
    output
        .iter()
        .skip(output.len().saturating_sub(TAIL_LINES))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, count: Count) -> Outcome {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Step {
            name: "sample",
            command,
            count,
        }
        .run()
    }

    fn tally(passed: usize, failed: usize, skipped: usize) -> Tally {
        Tally {
            passed,
            failed,
            skipped,
        }
    }

    #[test]
    fn steps_are_counted_by_exit_code_or_by_their_tests() {
        const ALL: Count = Count::Tests(Rest::Skipped);
        const SOME: Count = Count::Tests(Rest::FilteredOut);
        let table = [
            ("true", Count::ExitCode, tally(1, 0, 0)),
            ("false", Count::ExitCode, tally(0, 1, 0)),
            (
                "echo '  Summary [ 0.1s] 3 tests run: 3 passed, 2 skipped' >&2",
                ALL,
                tally(3, 0, 2),
            ),
            (
                "echo '  Summary [ 0.1s] 3 tests run: 3 passed, 2 skipped' >&2",
                SOME,
                tally(3, 0, 0),
            ),
            (
                "echo '  Summary [ 0.1s] 3 tests run: 2 passed, 1 failed, 0 skipped'; exit 100",
                ALL,
                tally(2, 1, 0),
            ),
            (
                "echo 'error: could not compile'; exit 101",
                ALL,
                tally(0, 1, 0),
            ),
            (
                "echo '  Summary [ 0.1s] 3 tests run: 3 passed, 0 skipped'; exit 1",
                ALL,
                tally(3, 1, 0),
            ),
            ("echo nothing to test", ALL, tally(0, 0, 0)),
        ];
        for (script, count, expected) in table {
            assert_eq!(run(script, count).tally, expected, "{script} {count:?}");
        }
    }

    #[test]
    fn a_failed_command_is_explained_by_its_last_lines_or_its_failed_tests() {
        let outcome = run("seq 1 100; exit 1", Count::ExitCode);
        assert_eq!(outcome.details.len(), TAIL_LINES);
        assert_eq!(outcome.details.last().map(String::as_str), Some("100"));
        let outcome = run(
            "echo 'test a::b ... FAILED'; exit 1",
            Count::Tests(Rest::Skipped),
        );
        assert_eq!(outcome.details, ["a::b"]);
    }

    #[test]
    fn a_program_that_is_not_there_fails_the_step_with_its_name() {
        let step = Step {
            name: "sample",
            command: Command::new("no-such-program-anywhere"),
            count: Count::ExitCode,
        };
        let outcome = step.run();
        assert_eq!(outcome.tally, tally(0, 1, 0));
        assert!(
            outcome
                .details
                .iter()
                .any(|line| line.contains("no-such-program-anywhere"))
        );
    }
}
