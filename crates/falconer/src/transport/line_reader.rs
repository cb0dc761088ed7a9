//! Cuts a stream of bytes into lines, many at a time, with a limit on the length of a line.
//!
//! Lines are handed out as slices of the read buffer, all complete ones in one block. Once the
//! receiver has let go of a block its memory is used again. Lines so long that the buffer had to
//! grow for them are copied out instead, so that it is used again at once: slices would keep
//! several such buffers in memory.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use memchr::{memchr, memrchr};
use tokio::io::AsyncRead;
use tokio_util::io::poll_read_buf;

use super::{Inbound, LineSource, SkippedLine};

/// Half of the room that is made for reading: as much as a pipe holds.
const BLOCK: usize = 64 * 1024;
/// Room is used up to this rest before new room is made. A block that waits for the caller keeps
/// all of its buffer in memory, so buffers should be full of lines.
const REST: usize = 16 * 1024;
/// A line of this length makes the buffer a large one, which is given back after a while.
const LARGE: usize = 512 * 1024;
/// Number of blocks without a long line to wait for until then.
const PATIENCE: u32 = 64;

/// Reads lines from any asynchronous reader.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    reader: R,
    limit: usize,
    buffer: BytesMut,
    /// Length of the whole lines at the buffer's front. The rest contains no newline.
    complete: usize,
    /// The line that is being thrown away.
    skipping: Option<Skipping>,
    at_end: bool,
    /// The buffer was made large for a long line.
    has_grown: bool,
    /// Blocks without a long line since then.
    small_blocks: u32,
}

/// Facts about a line that is being thrown away.
#[derive(Debug, Default)]
struct Skipping {
    length: u64,
    head: Vec<u8>,
}

impl Skipping {
    fn add(&mut self, part: &[u8]) {
        let room = SkippedLine::HEAD - self.head.len();
        self.head.extend_from_slice(&part[..part.len().min(room)]);
        self.length += part.len() as u64;
    }

    fn finish(self) -> Inbound {
        Inbound::Skipped(SkippedLine::new(self.length, self.head.into()))
    }
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads lines of at most `limit` bytes, the newline not counted; longer ones are skipped.
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader,
            limit,
            buffer: BytesMut::new(),
            complete: 0,
            skipping: None,
            at_end: false,
            has_grown: false,
            small_blocks: 0,
        }
    }

    /// Reads once. `Ready(Ok(0))` is the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.make_room();
        let start = self.buffer.len();
        let read = ready!(poll_read_buf(
            Pin::new(&mut self.reader),
            cx,
            &mut self.buffer
        ))?;
        if let Some(newline) = memrchr(b'\n', &self.buffer[start..]) {
            self.complete = start + newline + 1;
        }
        Poll::Ready(Ok(read))
    }

    fn make_room(&mut self) {
        if self.has_grown && self.buffer.is_empty() && self.small_blocks >= PATIENCE {
            self.buffer = BytesMut::new();
            self.has_grown = false;
        }
        let room = self.buffer.capacity() - self.buffer.len();
        if room < REST {
            self.has_grown |= self.buffer.len() >= LARGE;
            // Doubles for a long line. Reuses the memory if nobody holds a block of it.
            self.buffer.reserve(self.buffer.len().max(2 * BLOCK));
        }
    }

    /// Takes whole lines off the front of the buffer, `None` if there are none.
    fn take(&mut self) -> Option<Inbound> {
        if self.complete == 0 {
            return None;
        }
        if let Some(skipping) = self.skipping.take() {
            return self.finish_skipping(skipping);
        }
        // If all of it together is within the limit, so is each line.
        if self.complete <= self.limit.saturating_add(1) {
            return Some(self.take_lines(self.complete));
        }
        match self.lines_within_limit() {
            0 => self.finish_skipping(Skipping::default()),
            end => Some(self.take_lines(end)),
        }
    }

    fn take_lines(&mut self, end: usize) -> Inbound {
        self.complete -= end;
        if end < BLOCK {
            self.small_blocks = self.small_blocks.saturating_add(1);
        } else {
            self.small_blocks = 0;
        }
        if !self.has_grown {
            return Inbound::Lines(self.buffer.split_to(end).freeze());
        }
        // A slice would keep the whole large buffer, and the next line would need another.
        let lines = Bytes::copy_from_slice(&self.buffer[..end]);
        self.buffer.advance(end);
        Inbound::Lines(lines)
    }

    /// The end of the last line before the first that is too long.
    fn lines_within_limit(&self) -> usize {
        let mut end = 0;
        while let Some(length) = memchr(b'\n', &self.buffer[end..self.complete]) {
            if length > self.limit {
                break;
            }
            end += length + 1;
        }
        end
    }

    /// Throws away the rest of a line whose end is in the buffer.
    fn finish_skipping(&mut self, mut skipping: Skipping) -> Option<Inbound> {
        let end = memchr(b'\n', &self.buffer)?;
        skipping.add(&self.buffer[..end]);
        self.buffer.advance(end + 1);
        self.complete -= end + 1;
        Some(skipping.finish())
    }

    /// Throws away the beginning of a line that is too long already.
    fn skip_overlong(&mut self) {
        if self.complete == 0 && (self.skipping.is_some() || self.buffer.len() > self.limit) {
            self.skipping.get_or_insert_default().add(&self.buffer);
            self.buffer.clear();
        }
    }

    /// Returns the rest when there is no more to read.
    fn take_rest(&mut self) -> Option<Inbound> {
        if let Some(skipping) = self.skipping.take() {
            return Some(skipping.finish());
        }
        if self.buffer.is_empty() {
            return None;
        }
        Some(Inbound::Lines(self.buffer.split().freeze()))
    }
}

impl<R: AsyncRead + Unpin + Send> LineSource for LineReader<R> {
    fn poll_lines(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Inbound>>> {
        loop {
            if let Some(inbound) = self.take() {
                return Poll::Ready(Some(Ok(inbound)));
            }
            self.skip_overlong();
            if self.at_end {
                return Poll::Ready(self.take_rest().map(Ok));
            }
            match ready!(self.poll_fill(cx)) {
                Ok(0) => self.at_end = true,
                Ok(_) => {}
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }
}

#[cfg(test)]
mod tests;
