//! The first and the last 64 KiB of a transcript: all that listing reads of it.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use jiff::Timestamp;

/// How much of each end is read.
pub(crate) const WINDOW: usize = 65_536;

/// Both ends of a transcript. In a short transcript they are the same bytes.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    head: Vec<u8>,
    /// `None` if the head is the whole transcript.
    tail: Option<Vec<u8>>,
    /// Kept for the next file when the current one is short.
    spare: Vec<u8>,
    pub(crate) size: u64,
    pub(crate) modified: Timestamp,
}

impl Ends {
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    pub(crate) fn tail(&self) -> &[u8] {
        self.tail.as_deref().unwrap_or(&self.head)
    }

    /// Reads both ends of `file`, reusing the buffers.
    pub(crate) fn read(&mut self, file: &File) -> io::Result<()> {
        let meta = file.metadata()?;
        self.size = meta.len();
        self.modified = modified(&meta);
        read_window(file, 0, &mut self.head)?;
        let mut tail = self
            .tail
            .take()
            .unwrap_or_else(|| std::mem::take(&mut self.spare));
        if self.size > WINDOW as u64 {
            read_window(file, self.size - WINDOW as u64, &mut tail)?;
            self.tail = Some(tail);
        } else {
            self.spare = tail;
        }
        Ok(())
    }

    /// The ends of a transcript that is in memory, one JSON text per line.
    pub(crate) fn of_lines<'a>(
        lines: impl DoubleEndedIterator<Item = &'a str> + Clone,
        modified: Timestamp,
    ) -> Self {
        let size: usize = lines.clone().map(|line| line.len() + 1).sum();
        let mut head = Vec::new();
        for line in lines.clone() {
            head.extend_from_slice(line.as_bytes());
            head.push(b'\n');
            if head.len() >= WINDOW {
                break;
            }
        }
        head.truncate(WINDOW);
        let tail = (size > WINDOW).then(|| tail_of(lines));
        Self {
            head,
            tail,
            spare: Vec::new(),
            size: size as u64,
            modified,
        }
    }
}

/// The last bytes of the lines, in order.
fn tail_of<'a>(lines: impl DoubleEndedIterator<Item = &'a str>) -> Vec<u8> {
    let mut length = 0;
    let mut last: Vec<&str> = Vec::new();
    for line in lines.rev() {
        last.push(line);
        length += line.len() + 1;
        if length >= WINDOW {
            break;
        }
    }
    let mut tail = Vec::with_capacity(length);
    for line in last.into_iter().rev() {
        tail.extend_from_slice(line.as_bytes());
        tail.push(b'\n');
    }
    tail.drain(..tail.len().saturating_sub(WINDOW));
    tail
}

/// Fills `into` with up to one window from `offset`.
fn read_window(file: &File, offset: u64, into: &mut Vec<u8>) -> io::Result<()> {
    into.resize(WINDOW, 0);
    let mut filled = 0;
    while filled < WINDOW {
        match file.read_at(&mut into[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    into.truncate(filled);
    Ok(())
}

/// The time of the last change, rounded to milliseconds as the official SDK does.
fn modified(meta: &std::fs::Metadata) -> Timestamp {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "the official SDK computes in doubles; the same rounding is the point"
    )]
    let millis = (meta.mtime() as f64 * 1e3 + meta.mtime_nsec() as f64 / 1e6 + 0.5).floor() as i64;
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}
