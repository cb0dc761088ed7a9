//! Counting what test runners report, from the summary lines they print.
//!
//! Knows nextest and libtest (`cargo test`, doc tests). nextest repeats what a failed test
//! printed, and that is a summary of libtest: where nextest speaks, only nextest counts. A runner
//! that prints no summary counts as one check, passed or failed by its exit code.

use std::collections::BTreeSet;
use std::fmt;

/// How many checks went which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// Reads a runner's output line by line.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    libtest: Heard,
    nextest: Heard,
    flaky: BTreeSet<String>,
}

/// What one of the two runners said.
#[derive(Debug, Default)]
struct Heard {
    tally: Option<Tally>,
    failures: BTreeSet<String>,
}

impl Heard {
    fn read(&mut self, summary: Option<Tally>, failure: Option<&str>) {
        if let Some(summary) = summary {
            self.tally.get_or_insert_default().add(summary);
        }
        self.failures.extend(failure.map(str::to_owned));
    }

    fn is_silent(&self) -> bool {
        self.tally.is_none() && self.failures.is_empty()
    }
}

impl Counter {
    pub(crate) fn read(&mut self, line: &str) {
        let line = line.trim();
        if let Some(name) = flaky_test(line) {
            self.flaky.insert(name.to_owned());
        }
        self.libtest
            .read(libtest_summary(line), libtest_failure(line));
        self.nextest
            .read(nextest_summary(line), nextest_failure(line));
    }

    fn heard(&self) -> &Heard {
        if self.nextest.is_silent() {
            &self.libtest
        } else {
            &self.nextest
        }
    }

    /// The counts, if the runner printed any.
    pub(crate) fn tally(&self) -> Option<Tally> {
        self.heard().tally
    }

    /// Names of the tests that passed only when tried again, sorted.
    pub(crate) fn flaky(&self) -> impl Iterator<Item = &str> {
        self.flaky.iter().map(String::as_str)
    }

    /// Names of the tests that failed at every try, sorted.
    pub(crate) fn failures(&self) -> impl Iterator<Item = &str> {
        let failures = &self.heard().failures;
        failures.difference(&self.flaky).map(String::as_str)
    }
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s`
fn libtest_summary(line: &str) -> Option<Tally> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    Some(sum(counts.split("; ")))
}

/// `Summary [ 0.01s] 5 tests run: 4 passed (1 slow), 1 failed, 2 skipped`
fn nextest_summary(line: &str) -> Option<Tally> {
    let (head, counts) = line.strip_prefix("Summary [")?.split_once(" run: ")?;
    let _ = head;
    Some(sum(without_parentheses(counts).split(", ")))
}

fn sum<'a>(parts: impl Iterator<Item = &'a str>) -> Tally {
    let mut tally = Tally::default();
    for part in parts {
        let Some((count, what)) = part.trim().split_once(' ') else {
            continue;
        };
        let Ok(count) = count.parse::<usize>() else {
            continue;
        };
        match what.trim() {
            "passed" => tally.passed += count,
            "ignored" | "skipped" => tally.skipped += count,
            "measured" | "filtered out" => {}
            // failed, timed out, exec failed, leak failed: whatever else a runner calls it.
            _ => tally.failed += count,
        }
    }
    tally
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_usize;
    text.chars()
        .filter(|&character| {
            match character {
                '(' => depth += 1,
                ')' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect()
}

/// `test name ... FAILED`
fn libtest_failure(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// `FAIL [ 0.1s] (1/9) falconer::it name`
fn nextest_failure(line: &str) -> Option<&str> {
    let (status, rest) = line.split_once(" [")?;
    // With retries: `TRY 3 FAIL [ 0.1s] (2/9) falconer::it name`.
    let status = match status.strip_prefix("TRY ") {
        Some(attempt) => attempt.split_once(' ')?.1,
        None => status,
    };
    let failed = matches!(status, "FAIL" | "TIMEOUT" | "LEAK-FAIL" | "XFAIL" | "ABORT")
        || (status.starts_with("SIG") && status.chars().all(|letter| letter.is_ascii_uppercase()));
    if !failed {
        return None;
    }
    test_name(rest)
}

/// nextest: `FLAKY 2/3 [ 0.1s] (1/9) falconer::it name`.
fn flaky_test(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("FLAKY ")?.split_once(" [")?;
    test_name(rest)
}

/// The name in ` 0.1s] (1/9) falconer::it name`.
fn test_name(rest: &str) -> Option<&str> {
    let name = rest.split_once("] ")?.1.trim();
    match name
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(") "))
    {
        Some((_, name)) => Some(name.trim()),
        None => Some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(passed: usize, failed: usize, skipped: usize) -> Option<Tally> {
        Some(Tally {
            passed,
            failed,
            skipped,
        })
    }

    fn count(output: &str) -> Counter {
        let mut counter = Counter::default();
        output.lines().for_each(|line| counter.read(line));
        counter
    }

    #[test]
    fn summaries_of_both_runners_are_counted() {
        let table = [
            (
                "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
                tally(3, 0, 0),
            ),
            (
                "test result: FAILED. 7 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; finished in 1.20s",
                tally(7, 2, 1),
            ),
            (
                "     Summary [   0.010s] 5 tests run: 5 passed, 0 skipped",
                tally(5, 0, 0),
            ),
            (
                "     Summary [   1.010s] 5 tests run: 3 passed (1 slow, 1 flaky), 2 failed, 4 skipped",
                tally(3, 2, 4),
            ),
            (
                "     Summary [   9.010s] 6/9 tests run: 3 passed, 1 failed, 1 timed out, 1 exec failed, 0 skipped",
                tally(3, 3, 0),
            ),
            (
                "     Summary [   0.001s] 1 test run: 1 passed (1 leaky), 0 skipped",
                tally(1, 0, 0),
            ),
            ("   Compiling falconer v0.1.0\n    Finished dev", None),
            ("running 0 tests", None),
        ];
        for (output, expected) in table {
            assert_eq!(count(output).tally(), expected, "{output}");
        }
    }

    #[test]
    fn several_binaries_add_up() {
        let line = "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(
            count(&format!("{line}\n\nrunning 2 tests\n{line}")).tally(),
            tally(4, 0, 2)
        );
    }

    #[test]
    fn failed_tests_are_named_once() {
        let output = "
            PASS [   0.005s] (1/4) falconer::it good
            FAIL [   0.005s] (2/4) falconer::it router::bad
        TIMEOUT [  60.005s] (3/4) falconer::it slow
         SIGSEGV [   0.005s] (4/4) falconer::it crashing
            FAIL [   0.005s] (2/4) falconer::it router::bad";
        let counter = count(output);
        let names: Vec<&str> = counter.failures().collect();
        assert_eq!(
            names,
            [
                "falconer::it crashing",
                "falconer::it router::bad",
                "falconer::it slow"
            ]
        );
        let output = "test plain::bad ... FAILED\ntest plain::good ... ok";
        assert_eq!(count(output).failures().collect::<Vec<_>>(), ["plain::bad"]);
    }

    /// nextest shows the output of each failed try, which is that of libtest.
    #[test]
    fn a_test_that_fails_in_nextest_is_counted_once() {
        let output = "
  TRY 1 FAIL [   0.005s] (1/2) falconer::it router::bad
    running 1 test
    test router::bad ... FAILED
    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.00s
  TRY 2 FAIL [   0.005s] (1/2) falconer::it router::bad
    test router::bad ... FAILED
    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.00s
     Summary [   0.010s] 2 tests run: 1 passed, 1 failed, 0 skipped";
        let counter = count(output);
        assert_eq!(counter.tally(), tally(1, 1, 0));
        let names: Vec<&str> = counter.failures().collect();
        assert_eq!(names, ["falconer::it router::bad"]);
    }

    #[test]
    fn tests_that_passed_only_when_tried_again_are_flaky_and_not_failed() {
        let output = "
  TRY 1 FAIL [   0.005s] (1/2) falconer::it router::shaky
  TRY 2 PASS [   0.005s] (1/2) falconer::it router::shaky
   FLAKY 2/3 [   0.005s] (1/2) falconer::it router::shaky
  TRY 3 FAIL [   0.005s] (2/2) falconer::it router::bad
     Summary [   0.010s] 2 tests run: 1 passed (1 flaky), 1 failed, 0 skipped";
        let counter = count(output);
        assert_eq!(
            counter.flaky().collect::<Vec<_>>(),
            ["falconer::it router::shaky"]
        );
        assert_eq!(
            counter.failures().collect::<Vec<_>>(),
            ["falconer::it router::bad"]
        );
        assert_eq!(counter.tally(), tally(1, 1, 0));
    }

    #[test]
    fn the_last_line_reads_as_promised() {
        let tally = Tally {
            passed: 12,
            failed: 1,
            skipped: 0,
        };
        assert_eq!(tally.to_string(), "12 passed, 1 failed, 0 skipped");
    }
}
