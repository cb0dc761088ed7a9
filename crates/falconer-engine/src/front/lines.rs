//! Cutting what comes on stdin into lines.

use bytes::{Bytes, BytesMut};

/// How many characters a line may have.
pub(crate) const LONGEST_LINE: usize = 256 << 20;

/// What is kept for the next line; larger buffers are given back.
const KEPT: usize = 64 << 10;

/// Collects bytes until there is a whole line.
#[derive(Debug)]
pub(crate) struct LineCutter {
    rest: BytesMut,
    /// Characters in `rest`.
    characters: usize,
    longest: usize,
}

/// A line was too long to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "stream-json input carried over {}M characters with no newline; is the host writing JSON \
     lines?",
    longest >> 20
)]
pub(crate) struct LineTooLong {
    longest: usize,
}

impl LineCutter {
    pub(crate) fn new(longest: usize) -> Self {
        Self {
            rest: BytesMut::new(),
            characters: 0,
            longest,
        }
    }

    /// Adds bytes and gives each line they complete, newline included, to `line`.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        mut line: impl FnMut(Bytes),
    ) -> Result<(), LineTooLong> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (head, tail) = bytes.split_at(end + 1);
            self.keep(head)?;
            line(self.take());
            bytes = tail;
        }
        self.keep(bytes)
    }

    /// What came after the last newline, if anything; it counts as a line.
    pub(crate) fn finish(&mut self) -> Option<Bytes> {
        if self.rest.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        self.rest.extend_from_slice(b"\n");
        Some(self.take())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), LineTooLong> {
        let starts = |byte: &&u8| (**byte & 0xC0) != 0x80;
        self.characters += bytes.iter().filter(starts).count();
        // A newline is not part of its line.
        if self.characters > self.longest.saturating_add(1) {
            let longest = self.longest;
            return Err(LineTooLong { longest });
        }
        self.rest.extend_from_slice(bytes);
        Ok(())
    }

    fn take(&mut self) -> Bytes {
        self.characters = 0;
        let line = self.rest.split().freeze();
        if self.rest.capacity() > KEPT {
            self.rest = BytesMut::new();
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(chunks: &[&[u8]], longest: usize) -> Result<Vec<String>, LineTooLong> {
        let mut cutter = LineCutter::new(longest);
        let mut lines = Vec::new();
        let mut keep = |line: Bytes| lines.push(String::from_utf8_lossy(&line).into_owned());
        for chunk in chunks {
            cutter.push(chunk, &mut keep)?;
        }
        if let Some(line) = cutter.finish() {
            keep(line);
        }
        Ok(lines)
    }

    #[test]
    fn lines_are_whole_wherever_the_chunks_end() {
        assert_eq!(
            cut(&[b"a\nb\n\nc"], 9).unwrap(),
            ["a\n", "b\n", "\n", "c\n"]
        );
        let text = "zwölf\ndreizehn\n€".as_bytes();
        let whole = cut(&[text], 99).unwrap();
        for at in 0..=text.len() {
            let (head, tail) = text.split_at(at);
            assert_eq!(cut(&[head, tail], 99).unwrap(), whole, "cut at {at}");
        }
        assert_eq!(cut(&[b"a\n", b" \r "], 9).unwrap(), ["a\n"]);
        assert_eq!(cut(&[], 9).unwrap(), [""; 0]);
    }

    #[test]
    fn characters_count_not_bytes_and_each_line_anew() {
        let euros = "€€€€\n€€€€\n".as_bytes();
        assert_eq!(cut(&[euros], 4).unwrap().len(), 2);
        let error = cut(&["€€€€€".as_bytes(), b"x"], 4).unwrap_err();
        assert_eq!(error, LineTooLong { longest: 4 });
        assert_eq!(cut(&[b"1234\n"], 4).unwrap(), ["1234\n"]);
        assert!(cut(&[b"12345\n"], 4).is_err());
    }
}
