//! What is remembered of an output of any size: its beginning and its end.

use std::collections::VecDeque;

/// The beginning and the end of an output, in bounded memory.
#[derive(Debug)]
pub(crate) struct Capture {
    /// Characters that are shown at most.
    shown: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

/// An output as text, shortened if it had to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) is_whole: bool,
}

impl Capture {
    pub(crate) fn new(shown: usize) -> Self {
        Self {
            shown,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
        }
    }

    /// Bytes up to which everything is kept. A character has at most four.
    fn head_room(&self) -> usize {
        self.shown.saturating_mul(4)
    }

    fn tail_room(&self) -> usize {
        self.shown.saturating_mul(2)
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.head_room() - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        self.push_tail(rest);
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        let room = self.tail_room();
        let kept = &bytes[bytes.len().saturating_sub(room)..];
        let excess = (self.tail.len() + kept.len()).saturating_sub(room);
        self.tail.drain(..excess);
        self.tail.extend(kept);
    }

    /// Whether so many more bytes leave the output whole.
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.total + more as u64 <= self.head_room() as u64
    }

    /// Bytes seen, kept or not.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Everything, while nothing had to be left out.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        (self.total == self.head.len() as u64).then_some(&self.head)
    }

    /// The last bytes, at most `count`.
    pub(crate) fn last(&self, count: usize) -> Vec<u8> {
        let missing = count.saturating_sub(self.tail.len());
        let head = match self.whole() {
            // Only an output that is whole has no hole between its ends.
            Some(head) => &head[head.len().saturating_sub(missing)..],
            None if self.total == (self.head.len() + self.tail.len()) as u64 => {
                &self.head[self.head.len().saturating_sub(missing)..]
            }
            None => &[],
        };
        let tail = self.tail.iter().skip(self.tail.len().saturating_sub(count));
        head.iter().chain(tail).copied().collect()
    }

    /// The text, with its middle left out if it is longer than `limit` characters.
    pub(crate) fn show(&self, limit: usize) -> Shown {
        if let Some(whole) = self.whole() {
            return shorten(&String::from_utf8_lossy(whole), limit);
        }
        let head = String::from_utf8_lossy(&self.head);
        let head = without_blank_start(&head);
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let tail = String::from_utf8_lossy(&tail);
        let (first, last) = (limit.div_ceil(2), limit / 2);
        Shown {
            text: join(first_chars(head, first), last_chars(tail.trim_end(), last)),
            is_whole: false,
        }
    }

    /// The text at the length it was made for.
    pub(crate) fn shown(&self) -> Shown {
        self.show(self.shown)
    }
}

/// Without the blank lines that it begins with.
fn without_blank_start(text: &str) -> &str {
    let start = text.len() - text.trim_start().len();
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    &text[line..]
}

fn shorten(text: &str, limit: usize) -> Shown {
    let text = without_blank_start(text.trim_end());
    if text.len() <= limit || text.chars().count() <= limit {
        return Shown {
            text: text.to_owned(),
            is_whole: true,
        };
    }
    let (first, last) = (limit.div_ceil(2), limit / 2);
    Shown {
        text: join(first_chars(text, first), last_chars(text, last)),
        is_whole: false,
    }
}

fn join(first: &str, last: &str) -> String {
    format!("{first}\n\n[… the middle of the output is left out …]\n\n{last}")
}

fn first_chars(text: &str, count: usize) -> &str {
    let end = text
        .char_indices()
        .nth(count)
        .map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn last_chars(text: &str, count: usize) -> &str {
    let Some(skipped) = count.checked_sub(1) else {
        return "";
    };
    let start = text
        .char_indices()
        .rev()
        .nth(skipped)
        .map_or(0, |(at, _)| at);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn capture(shown: usize, chunks: &[&[u8]]) -> Capture {
        let mut capture = Capture::new(shown);
        for chunk in chunks {
            capture.push(chunk);
        }
        capture
    }

    #[test]
    fn short_outputs_are_shown_whole() {
        for (chunks, expected) in [
            (&[] as &[&[u8]], ""),
            (&[b"a", b"b\n"], "ab"),
            (&[b"\xff\x00z"], "\u{fffd}\0z"),
            (&["äöüß".as_bytes()], "äöüß"),
            // The halves of a character may come in two reads.
            (&[b"\xc3", b"\xa4"], "ä"),
        ] {
            let shown = capture(4, chunks).shown();
            assert_eq!((shown.text.as_str(), shown.is_whole), (expected, true));
        }
    }

    #[test]
    fn long_outputs_keep_both_ends() {
        let shown = capture(6, &[b"abcdefgh"]).shown();
        assert!(shown.text.starts_with("abc\n") && shown.text.ends_with("\nfgh"));
        let numbers: String = (0..10_000).map(|n| format!("{n}\n")).collect();
        let shown = capture(6, &[numbers.as_bytes()]).shown();
        assert!(
            shown.text.starts_with("0\n1\n") && shown.text.ends_with("\n999"),
            "{shown:?}"
        );
        assert!(!shown.is_whole);
    }

    proptest! {
        #[test]
        fn memory_is_bounded_and_the_ends_are_right(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..30),
            shown in 0usize..20,
            last in 0usize..80,
        ) {
            let mut capture = Capture::new(shown);
            let mut all = Vec::new();
            for chunk in &chunks {
                capture.push(chunk);
                all.extend_from_slice(chunk);
            }
            prop_assert!(capture.head.len() + capture.tail.len() <= shown * 6);
            prop_assert_eq!(capture.total(), all.len() as u64);
            prop_assert!(all.ends_with(&capture.last(last)));
            prop_assert!(capture.last(last).len() <= last);
            prop_assert!(capture.shown().text.chars().count() <= shown + 60);
            if all.len() <= shown * 4 {
                prop_assert_eq!(capture.whole(), Some(&*all));
            }
        }
    }
}
