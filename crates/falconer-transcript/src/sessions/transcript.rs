//! Where the lines of a transcript come from: a file, or entries loaded from a store.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::error::SessionError;
use crate::mirror::StoreEntry;

/// The longest line that is looked at; a longer one is skipped and counted.
pub(crate) const LONGEST_LINE: usize = 64 << 20;

/// Where a line is, so that it can be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// The byte in the file, or the number of the entry.
    start: u64,
    length: usize,
}

/// The lines of one transcript, readable in order and again by position.
pub(crate) trait Transcript: std::fmt::Debug + Send {
    /// Calls `each` with every line that is not blank; returns how many were too long.
    fn scan(&mut self, each: &mut dyn FnMut(Span, &[u8])) -> Result<u64, SessionError>;

    /// Reads one line again.
    fn read(&mut self, span: Span, into: &mut Vec<u8>) -> Result<(), SessionError>;
}

/// A transcript on disk. Holds one line at a time.
#[derive(Debug)]
pub(crate) struct FileTranscript {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
}

impl Transcript for FileTranscript {
    fn scan(&mut self, each: &mut dyn FnMut(Span, &[u8])) -> Result<u64, SessionError> {
        let failed = SessionError::io("read", &self.path);
        let reader = BufReader::with_capacity(1 << 18, &self.file);
        scan_lines(reader, LONGEST_LINE, each).map_err(failed)
    }

    fn read(&mut self, span: Span, into: &mut Vec<u8>) -> Result<(), SessionError> {
        into.resize(span.length, 0);
        let read = self.file.read_exact_at(into, span.start);
        read.map_err(SessionError::io("read", &self.path))
    }
}

/// Entries that a store returned.
#[derive(Debug)]
pub(crate) struct StoredTranscript(pub(crate) Vec<StoreEntry>);

impl Transcript for StoredTranscript {
    fn scan(&mut self, each: &mut dyn FnMut(Span, &[u8])) -> Result<u64, SessionError> {
        for (start, entry) in (0..).zip(&self.0) {
            let line = entry.as_json().as_bytes();
            let length = line.len();
            each(Span { start, length }, line);
        }
        Ok(0)
    }

    fn read(&mut self, span: Span, into: &mut Vec<u8>) -> Result<(), SessionError> {
        into.clear();
        let entry = usize::try_from(span.start)
            .ok()
            .and_then(|at| self.0.get(at));
        into.extend_from_slice(entry.map_or("", StoreEntry::as_json).as_bytes());
        Ok(())
    }
}

/// Calls `each` with every line of at most `longest` bytes; counts the others.
fn scan_lines(
    mut reader: impl BufRead,
    longest: usize,
    each: &mut dyn FnMut(Span, &[u8]),
) -> io::Result<u64> {
    let (mut line, mut start, mut length, mut too_long) = (Vec::new(), 0_u64, 0_usize, 0);
    loop {
        let chunk = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let newline = memchr::memchr(b'\n', chunk);
        let part = &chunk[..newline.unwrap_or(chunk.len())];
        let at_end = chunk.is_empty();
        length += part.len();
        if length <= longest {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(newline.is_some());
        if newline.is_some() || at_end {
            if length > longest {
                too_long += 1;
            } else if !line.trim_ascii().is_empty() {
                each(Span { start, length }, &line);
            }
            start += length as u64 + 1;
            length = 0;
            line.clear();
        }
        if at_end {
            return Ok(too_long);
        }
        reader.consume(used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_whole_and_overlong_ones_are_counted() {
        let text = b"one\n\n  \nlonger than ten\ntwo\nlast";
        for capacity in [1, 2, 7, 64] {
            let mut seen = Vec::new();
            let reader = BufReader::with_capacity(capacity, &text[..]);
            let too_long = scan_lines(reader, 10, &mut |span, line| {
                let start = usize::try_from(span.start).expect("small");
                assert_eq!(&text[start..start + span.length], line);
                seen.push(String::from_utf8_lossy(line).into_owned());
            });
            assert_eq!(too_long.expect("readable"), 1);
            assert_eq!(seen, ["one", "two", "last"], "capacity {capacity}");
        }
    }
}
