//! The lines of a transcript, one in memory at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::SessionError;

/// The longest line that is looked at; a longer one is skipped and counted.
const LONGEST_LINE: usize = 64 << 20;

/// The place of a line, so that it can be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// The byte in the file, or the number of the entry.
    pub(crate) start: u64,
    pub(crate) length: usize,
}

/// The lines of one transcript, readable in order and again by position.
pub(crate) trait Lines: std::fmt::Debug + Send {
    /// Calls `each` with every line that is not blank; returns how many were too long.
    fn scan(&mut self, each: &mut dyn FnMut(Span, &[u8])) -> Result<u64, SessionError>;

    /// Reads one line again.
    fn read(&mut self, span: Span, into: &mut Vec<u8>) -> Result<(), SessionError>;
}

/// A transcript on disk. Holds one line at a time.
#[derive(Debug)]
pub(crate) struct FileLines {
    file: File,
    path: PathBuf,
}

impl FileLines {
    pub(crate) fn new(file: File, path: &Path) -> Self {
        Self {
            file,
            path: path.to_path_buf(),
        }
    }

    pub(crate) fn open(path: &Path) -> Result<Self, SessionError> {
        let file = File::open(path).map_err(SessionError::io("read", path))?;
        Ok(Self::new(file, path))
    }
}

impl Lines for FileLines {
    fn scan(&mut self, each: &mut dyn FnMut(Span, &[u8])) -> Result<u64, SessionError> {
        scan(&self.file, each).map_err(SessionError::io("read", &self.path))
    }

    fn read(&mut self, span: Span, into: &mut Vec<u8>) -> Result<(), SessionError> {
        into.resize(span.length, 0);
        let read = self.file.read_exact_at(into, span.start);
        read.map_err(SessionError::io("read", &self.path))
    }
}

/// Calls `each` with every line of a file that is not blank; returns how many were too long.
pub(crate) fn scan(file: &File, each: &mut dyn FnMut(Span, &[u8])) -> io::Result<u64> {
    scan_lines(BufReader::with_capacity(1 << 18, file), LONGEST_LINE, each)
}

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
