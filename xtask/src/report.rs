//! The one place that prints.
//!
//! Whole lines, no colours and no cursor movement, so that a pipe, a file and
//! a terminal all show the same thing.

use std::io::Write as _;

/// Prints a line to stdout. A closed pipe is not our failure, so it is ignored.
pub(crate) fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Prints a failure to stderr.
pub(crate) fn error(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "error: {text}");
}
