//! Server-sent events, cut out of a stream of bytes.

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

/// A frame longer than this is no event of ours.
const LONGEST: usize = 32 << 20;

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Frame {
    pub(crate) kind: String,
    pub(crate) data: String,
}

/// The frames of a stream.
pub(crate) struct Frames {
    bytes: BoxStream<'static, reqwest::Result<Bytes>>,
    cutter: Cutter,
}

impl Frames {
    pub(super) fn of(bytes: BoxStream<'static, reqwest::Result<Bytes>>) -> Self {
        Self {
            bytes,
            cutter: Cutter::default(),
        }
    }

    /// The next frame; `None` when the connection is over, however it ended.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.cutter.frame() {
                return Some(frame);
            }
            let bytes = self.bytes.next().await?.ok()?;
            if !self.cutter.add(&bytes) {
                return None;
            }
        }
    }
}

/// Bytes that are no whole frame yet.
#[derive(Debug, Default)]
struct Cutter {
    waiting: Vec<u8>,
}

impl Cutter {
    /// Whether there was room.
    fn add(&mut self, bytes: &[u8]) -> bool {
        self.waiting
            .extend(bytes.iter().filter(|byte| **byte != b'\r'));
        self.waiting.len() <= LONGEST
    }

    /// A whole frame; those without data are passed over.
    fn frame(&mut self) -> Option<Frame> {
        loop {
            let end = self.waiting.windows(2).position(|pair| pair == b"\n\n")?;
            let block: Vec<u8> = self.waiting.drain(..end + 2).collect();
            let frame = read(&String::from_utf8_lossy(&block));
            if !frame.data.is_empty() {
                return Some(frame);
            }
        }
    }
}

fn read(block: &str) -> Frame {
    let mut frame = Frame::default();
    for line in block.lines() {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => frame.kind = value.to_owned(),
            "data" if frame.data.is_empty() => frame.data = value.to_owned(),
            "data" => frame.data += &format!("\n{value}"),
            _ => {}
        }
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_however_the_bytes_are_cut() {
        let text = ": hello\n\nid: 1\nevent: event\ndata: {\"a\":1}\n\nevent: ping\r\ndata: x\r\ndata:y\r\n\r\nevent: half";
        let expected = [("event", "{\"a\":1}"), ("ping", "x\ny")];
        for size in 1..text.len() {
            let mut cutter = Cutter::default();
            let mut found = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                assert!(cutter.add(piece));
                while let Some(frame) = cutter.frame() {
                    found.push((frame.kind, frame.data));
                }
            }
            let found: Vec<_> = found
                .iter()
                .map(|(a, b)| (a.as_str(), b.as_str()))
                .collect();
            assert_eq!(found, expected, "pieces of {size}");
        }
    }
}
