//! Times that travel in the text: what is said last knows when it was said first.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is replaced by the time; nineteen digits, as nanoseconds have today.
pub(crate) const BLANK: &str = "stamp:0000000000000000000";
const WORD: &[u8] = b"stamp:";
const DIGITS: usize = 19;

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// Puts the time into every blank; nothing if there is none.
pub(crate) fn fill(line: &[u8]) -> Option<Vec<u8>> {
    let first = find(line)?;
    let mut filled = line.to_vec();
    let time = format!("{:0DIGITS$}", now());
    let mut at = first;
    while let Some(found) = find(&filled[at..]) {
        let start = at + found + WORD.len();
        let end = start + DIGITS;
        filled.get_mut(start..end)?.copy_from_slice(time.as_bytes());
        at = end;
    }
    Some(filled)
}

fn find(line: &[u8]) -> Option<usize> {
    line.windows(WORD.len()).position(|word| word == WORD)
}

/// How long ago the first stamp in a text was made.
pub(crate) fn age(text: &str) -> Option<Duration> {
    let digits = text.split_once("stamp:")?.1.get(..DIGITS)?;
    let made: u64 = digits.parse().ok().filter(|made| *made > 0)?;
    Some(Duration::from_nanos(now().saturating_sub(made)))
}
