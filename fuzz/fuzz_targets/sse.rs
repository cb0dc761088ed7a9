//! Any bytes, cut anywhere, are the same events: `cargo +nightly fuzz run sse`.

#![no_main]

#[path = "../../crates/falconer-model/src/sse.rs"]
#[allow(dead_code, reason = "the engine uses all of it")]
mod sse;

use std::collections::VecDeque;

use bytes::Bytes;
use sse::{Decoder, SseEvent};

/// The first byte says how large the pieces are.
fn check(input: &[u8]) {
    let Some((size, stream)) = input.split_first() else {
        return;
    };
    let whole = decode([stream].into_iter());
    let pieces = decode(stream.chunks(usize::from(*size).max(1)));
    assert_eq!(whole, pieces);
}

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<VecDeque<SseEvent>> {
    let mut decoder = Decoder::new(4096);
    let mut events = VecDeque::new();
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece), &mut events).ok()?;
    }
    events.extend(decoder.finish());
    Some(events)
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| check(input));
