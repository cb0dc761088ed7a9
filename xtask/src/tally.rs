//! Counting what test runners report, from the summary lines they print.
//!
//! Knows nextest and libtest (`cargo test`, doc tests). A runner that prints no
//! summary counts as one check, passed or failed by its exit code.

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
    tally: Tally,
    summaries: usize,
    failures: BTreeSet<String>,
    flaky: BTreeSet<String>,
}

impl Counter {
    pub(crate) fn read(&mut self, line: &str) {
        let line = line.trim();
        if let Some(name) = flaky_test(line) {
            self.flaky.insert(name.to_owned());
        } else if let Some(tally) = libtest_summary(line).or_else(|| nextest_summary(line)) {
            self.tally.add(tally);
            self.summaries += 1;
        } else if let Some(name) = failed_test(line) {
            self.failures.insert(name.to_owned());
        }
    }

    /// The counts, if the runner printed any.
    pub(crate) fn tally(&self) -> Option<Tally> {
        (self.summaries > 0).then_some(self.tally)
    }

    /// Names of the tests that passed only when tried again, sorted.
    pub(crate) fn flaky(&self) -> impl Iterator<Item = &str> {
        self.flaky.iter().map(String::as_str)
    }

    /// Names of the tests that failed at every try, sorted.
    pub(crate) fn failures(&self) -> impl Iterator<Item = &str> {
        self.failures.difference(&self.flaky).map(String::as_str)
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

/// nextest: `FAIL [ 0.1s] (1/9) falconer::it name`; libtest: `test name ... FAILED`.
fn failed_test(line: &str) -> Option<&str> {
    if let Some(name) = line
        .strip_prefix("test ")
        .and_then(|rest| rest.strip_suffix(" ... FAILED"))
    {
        return Some(name);
    }
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
            FAIL [   0.005s] (2/4) falconer::it router::bad
            test plain::bad ... FAILED
            test plain::good ... ok";
        let counter = count(output);
        let names: Vec<&str> = counter.failures().collect();
        assert_eq!(
            names,
            [
                "falconer::it crashing",
                "falconer::it router::bad",
                "falconer::it slow",
                "plain::bad"
            ]
        );
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
