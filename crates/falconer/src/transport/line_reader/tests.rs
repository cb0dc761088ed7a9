//! However the bytes arrive, the same lines come out.

use std::collections::VecDeque;

use proptest::prelude::{Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use tokio::io::ReadBuf;

use super::*;

/// Yields the given pieces, one for each read, with a `Pending` in between.
struct Pieces {
    pieces: VecDeque<Vec<u8>>,
    ready: bool,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.ready = !self.ready;
        if !self.ready {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(mut piece) = self.pieces.pop_front() {
            let rest = piece.split_off(piece.len().min(buf.remaining()));
            buf.put_slice(&piece);
            if !rest.is_empty() {
                self.pieces.push_front(rest);
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(Vec<u8>),
    Skipped(u64, Vec<u8>),
}

/// What the reader makes of the pieces, line by line.
fn read(pieces: Vec<Vec<u8>>, limit: usize) -> Vec<Line> {
    let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
    let mut reader = LineReader::new(
        Pieces {
            pieces: pieces.collect(),
            ready: false,
        },
        limit,
    );
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let mut lines = Vec::new();
    loop {
        match reader.poll_lines(&mut cx) {
            Poll::Pending => {}
            Poll::Ready(None) => return lines,
            Poll::Ready(Some(Ok(Inbound::Lines(block)))) => {
                assert!(!block.is_empty());
                let whole = |line: &[u8]| Line::Whole(line.to_vec());
                lines.extend(block.split_inclusive(|byte| *byte == b'\n').map(whole));
            }
            Poll::Ready(Some(Ok(Inbound::Skipped(skipped)))) => {
                lines.push(Line::Skipped(skipped.length, skipped.head.to_vec()));
            }
            Poll::Ready(Some(Err(error))) => panic!("{error}"),
        }
    }
}

/// What it should make of them.
fn expected(text: &[u8], limit: usize) -> Vec<Line> {
    text.split_inclusive(|byte| *byte == b'\n')
        .map(|line| {
            let content = line.strip_suffix(b"\n").unwrap_or(line);
            if content.len() <= limit {
                return Line::Whole(line.to_vec());
            }
            let head = &content[..content.len().min(SkippedLine::HEAD)];
            Line::Skipped(content.len() as u64, head.to_vec())
        })
        .collect()
}

fn cut(text: &[u8], at: impl Fn(usize) -> bool) -> Vec<Vec<u8>> {
    let mut pieces = vec![Vec::new()];
    for (index, byte) in text.iter().enumerate() {
        if at(index) {
            pieces.push(Vec::new());
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(*byte);
        }
    }
    pieces
}

#[test]
fn every_way_of_splitting_a_short_text_gives_the_same_lines() {
    let texts: &[&[u8]] = &[
        b"",
        b"\n",
        b"\n\n\n",
        b"a",
        b"a\nb",
        b"ab\r\ncd\r\n",
        b"\na\n\nbcd\n",
        b"abcdefg\nhij\n",
        b"a\nbcdefgh\nij",
        b"ab\ncdefghijk",
        b"\xff\xfe\n\x00\n",
    ];
    for text in texts {
        for limit in [1, 2, 3, 7, 8, 100] {
            for cuts in 0..1_usize << text.len().max(1) {
                let pieces = cut(text, |index| cuts >> index & 1 == 1);
                assert_eq!(
                    read(pieces, limit),
                    expected(text, limit),
                    "{text:?} cut {cuts:b} limit {limit}"
                );
            }
        }
    }
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        (0..400_000_usize, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]),
    ];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join(&b'\n'))
}

proptest! {
    #[test]
    fn any_splitting_of_any_text_gives_the_same_lines(
        text in text(),
        sizes in prop::collection::vec(1..200_000_usize, 1..8),
        limit in 1..300_000_usize,
    ) {
        let mut pieces = Vec::new();
        let mut rest = &text[..];
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece.to_vec());
            rest = after;
        }
        prop_assert_eq!(read(pieces, limit), expected(&text, limit));
    }
}

#[test]
fn all_complete_lines_of_a_read_come_as_one_block() {
    let mut reader = LineReader::new(&b"a\nb\n\nc"[..], 100);
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let mut blocks = Vec::new();
    while let Poll::Ready(Some(Ok(Inbound::Lines(block)))) = reader.poll_lines(&mut cx) {
        blocks.push(block);
    }
    assert_eq!(blocks, ["a\nb\n\n", "c"]);
}

#[test]
fn the_buffer_is_used_again_and_shrinks_after_a_long_line() {
    let long = [vec![b'x'; 3 * LARGE], vec![b'\n']].concat();
    let mut pieces: VecDeque<Vec<u8>> = std::iter::repeat_n(long, 5).collect();
    pieces.extend(std::iter::repeat_n(
        b"short\n".to_vec(),
        2 * PATIENCE as usize,
    ));
    let mut reader = LineReader::new(
        Pieces {
            pieces,
            ready: false,
        },
        usize::MAX,
    );
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let mut starts = Vec::new();
    let mut capacities = Vec::new();
    loop {
        match reader.poll_lines(&mut cx) {
            Poll::Pending => {}
            Poll::Ready(Some(Ok(Inbound::Lines(block)))) => {
                if block.len() > LARGE {
                    starts.push(block.as_ptr());
                }
                capacities.push(reader.buffer.capacity());
            }
            Poll::Ready(_) => break,
        }
    }
    assert_eq!(starts.len(), 5);
    // It moves while it grows. New memory for each line would never be where the old one is.
    let moves = starts.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(moves <= 2, "{starts:?}");
    assert!(*capacities.last().unwrap() < LARGE, "{capacities:?}");
}
