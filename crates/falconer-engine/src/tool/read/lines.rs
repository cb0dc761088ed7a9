//! Some lines of a file of any size, without holding the rest.

use std::fmt::Write as _;
use std::io::{self, Read};

/// Larger files are never shown as a whole, so their hash is never asked for.
const HASHED: u64 = 32 << 20;

/// How far lines are counted behind those that were asked for.
const COUNTED: u64 = 64 << 20;

/// Which lines, and how much at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// Counted from one.
    pub(super) start: u64,
    pub(super) count: u64,
    pub(super) bytes: usize,
}

/// The lines that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) bytes: Vec<u8>,
    pub(super) count: u64,
    /// Lines in the whole file. What follows the last `\n` is a line, even when it is empty.
    pub(super) total: u64,
    pub(super) counting: Counting,
    /// There was more than the page holds.
    pub(super) is_cut: bool,
    /// Of the whole file, if that is what the page holds.
    pub(super) hash: blake3::Hash,
}

/// Whether the lines were counted to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counting {
    Complete,
    /// The file is so large that there are more lines than `total`.
    GivenUp,
}

/// Reads on behind the lines asked for, because the number of all lines is part of the answer.
pub(super) fn select(mut reader: impl Read, wanted: Wanted) -> io::Result<Page> {
    let end = wanted.start.saturating_add(wanted.count);
    let mut hasher = blake3::Hasher::new();
    let mut page = Vec::new();
    let mut is_cut = false;
    let mut line = 1;
    let mut behind = 0;
    let mut counting = Counting::Complete;
    let mut chunk = vec![0; 128 << 10];
    loop {
        let length = match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let chunk = &chunk[..length];
        if hasher.count() <= HASHED {
            hasher.update(chunk);
        }
        let newlines = memchr::memchr_iter(b'\n', chunk).count() as u64;
        let overlaps = line < end && line + newlines >= wanted.start;
        if overlaps && !is_cut {
            page.extend_from_slice(within(chunk, line, wanted.start, end));
            is_cut = page.len() > wanted.bytes.saturating_add(1);
        }
        if is_cut || line >= end {
            behind += length as u64;
        }
        line += newlines;
        if behind > COUNTED {
            counting = Counting::GivenUp;
            break;
        }
    }
    if line >= end && page.last() == Some(&b'\n') {
        page.pop();
    }
    is_cut |= page.len() > wanted.bytes;
    page.truncate(wanted.bytes);
    let count = end.min(line + 1).saturating_sub(wanted.start);
    Ok(Page {
        bytes: page,
        count,
        total: line,
        counting,
        is_cut,
        hash: hasher.finalize(),
    })
}

/// The bytes of a chunk that belong to lines `start..end`, when it begins in line `line`.
fn within(chunk: &[u8], line: u64, start: u64, end: u64) -> &[u8] {
    let after = |newlines: u64| match usize::try_from(newlines) {
        Ok(0) => Some(0),
        Ok(newlines) => memchr::memchr_iter(b'\n', chunk)
            .nth(newlines - 1)
            .map(|at| at + 1),
        Err(_) => None,
    };
    let from = after(start.saturating_sub(line)).unwrap_or(chunk.len());
    let to = after(end - line).unwrap_or(chunk.len());
    &chunk[from..to.max(from)]
}

impl Page {
    /// Ends a page that was cut at the end of a line, if it has one.
    pub(super) fn keep_whole_lines(&mut self) {
        if !self.is_cut {
            return;
        }
        if let Some(at) = memchr::memrchr(b'\n', &self.bytes) {
            self.bytes.truncate(at);
        } else if let Some(last) = self.bytes.utf8_chunks().last() {
            // One line longer than a page: at least no letter is cut in two.
            let broken = last.invalid().len();
            self.bytes.truncate(self.bytes.len() - broken);
        }
        self.count = memchr::memchr_iter(b'\n', &self.bytes).count() as u64 + 1;
    }
}

/// Each line with its number and a tab before it.
pub(super) fn numbered(text: &str, start: u64) -> String {
    let mut shown = String::with_capacity(text.len() + text.len() / 8);
    for (number, line) in (start..).zip(text.split('\n')) {
        if number > start {
            shown.push('\n');
        }
        let _ = write!(shown, "{number}\t{line}");
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hands out a few bytes at a time, so that lines cross reads.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    proptest! {
        #[test]
        fn selection_equals_splitting_the_text(
            text in "[ab\n]{0,60}", start in 1..20_u64, count in 1..20_u64, drip in 1..7_usize,
        ) {
            let wanted = Wanted { start, count, bytes: 1000 };
            let page = select(Drip(text.as_bytes(), drip), wanted).unwrap();
            let all: Vec<&str> = text.split('\n').collect();
            let expect: Vec<&str> = all.iter().copied()
                .skip(start as usize - 1).take(count as usize).collect();
            prop_assert_eq!(String::from_utf8(page.bytes).unwrap(), expect.join("\n"));
            prop_assert_eq!(page.count, expect.len() as u64);
            prop_assert_eq!(page.total, all.len() as u64);
            prop_assert!(!page.is_cut);
        }

        #[test]
        fn page_never_exceeds_its_limit(
            text in "[aé\n]{0,60}", bytes in 1..30_usize, drip in 1..7_usize,
        ) {
            let wanted = Wanted { start: 1, count: u64::MAX, bytes };
            let mut page = select(Drip(text.as_bytes(), drip), wanted).unwrap();
            page.keep_whole_lines();
            prop_assert_eq!(page.is_cut, text.len() > bytes);
            prop_assert!(page.bytes.len() <= bytes);
            let shown = String::from_utf8(page.bytes).unwrap();
            prop_assert!(text.starts_with(&shown));
            prop_assert_eq!(page.count, shown.split('\n').count() as u64);
        }
    }
}
