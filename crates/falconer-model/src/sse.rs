//! Server-sent events out of bytes, however the network cut them.
//!
//! The common case, an event whose lines are whole in one chunk, copies nothing.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};
use memchr::{memchr, memchr2};

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// The `event` field, if there was one.
    pub(crate) name: Option<Bytes>,
    /// The `data` lines, joined with newlines.
    pub(crate) data: Bytes,
}

/// An event, or a line, above the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {limit} bytes")]
pub(crate) struct TooLarge {
    pub(crate) limit: usize,
}

/// Reads events out of chunks of bytes.
#[derive(Debug)]
pub(crate) struct Decoder {
    limit: usize,
    /// The beginning of a line whose end has not come.
    partial: BytesMut,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    /// The first line, which may begin with a byte order mark, is over.
    started: bool,
    name: Option<Bytes>,
    data: Data,
}

/// The data lines of the event that is being read.
#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    One(Bytes),
    Joined(BytesMut),
}

impl Data {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(line) => line.len(),
            Self::Joined(lines) => lines.len(),
        }
    }

    fn push(&mut self, line: Bytes) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(line),
            Self::One(first) => Self::joined(BytesMut::from(first.as_ref()), &line),
            Self::Joined(lines) => Self::joined(lines, &line),
        };
    }

    fn joined(mut lines: BytesMut, line: &[u8]) -> Self {
        lines.extend_from_slice(b"\n");
        lines.extend_from_slice(line);
        Self::Joined(lines)
    }

    fn take(&mut self) -> Option<Bytes> {
        match std::mem::take(self) {
            Self::None => None,
            Self::One(line) => Some(line),
            Self::Joined(lines) => Some(lines.freeze()),
        }
    }
}

impl Decoder {
    /// A decoder that refuses events of more than `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            partial: BytesMut::new(),
            after_cr: false,
            started: false,
            name: None,
            data: Data::None,
        }
    }

    /// Reads a chunk; events that are complete go to `events`.
    pub(crate) fn push(
        &mut self,
        mut chunk: Bytes,
        events: &mut VecDeque<SseEvent>,
    ) -> Result<(), TooLarge> {
        while let Some(first) = chunk.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                chunk.advance(1);
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', &chunk) else {
                self.check(chunk.len())?;
                self.partial.extend_from_slice(&chunk);
                return Ok(());
            };
            self.check(end)?;
            self.after_cr = chunk[end] == b'\r';
            let piece = chunk.split_to(end);
            chunk.advance(1);
            let line = self.whole_line(piece);
            events.extend(self.line(line));
        }
        Ok(())
    }

    /// The last event, if its lines are complete and only the blank line after it is missing.
    pub(crate) fn finish(&mut self) -> Option<SseEvent> {
        if self.partial.is_empty() {
            self.dispatch()
        } else {
            None
        }
    }

    fn check(&self, more: usize) -> Result<(), TooLarge> {
        if self.partial.len() + self.data.len() + more > self.limit {
            Err(TooLarge { limit: self.limit })
        } else {
            Ok(())
        }
    }

    fn whole_line(&mut self, piece: Bytes) -> Bytes {
        let mut line = if self.partial.is_empty() {
            piece
        } else {
            self.partial.extend_from_slice(&piece);
            self.partial.split().freeze()
        };
        if !std::mem::replace(&mut self.started, true) && line.starts_with(b"\xef\xbb\xbf") {
            line.advance(3);
        }
        line
    }

    fn line(&mut self, mut line: Bytes) -> Option<SseEvent> {
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = match memchr(b':', &line) {
            // A comment.
            Some(0) => return None,
            Some(colon) => {
                let field = line.split_to(colon);
                line.advance(1);
                if line.first() == Some(&b' ') {
                    line.advance(1);
                }
                (field, line)
            }
            None => (line, Bytes::new()),
        };
        match field.as_ref() {
            b"data" => self.data.push(value),
            b"event" => self.name = Some(value),
            // `id` and `retry` are for reconnecting, which a POST cannot; others mean nothing.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let name = self.name.take();
        let data = self.data.take()?;
        Some(SseEvent { name, data })
    }
}

#[cfg(test)]
mod tests;
