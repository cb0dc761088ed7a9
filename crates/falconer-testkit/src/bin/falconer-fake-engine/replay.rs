//! Plays a cassette.

use std::path::Path;

use falconer_testkit::cassette::{Cassette, Next, Replay};

use crate::wire::{Wire, complain};
use crate::{Stop, misbehave};

/// Plays to the end; the exit code.
pub(crate) fn run(path: &Path, mut wire: Wire, session: Option<String>) -> Result<u8, Stop> {
    let cassette = Cassette::load(path).map_err(|error| Stop::Wrong(error.to_string()))?;
    let mut replay = Replay::new(cassette);
    if let Some(session) = session {
        replay.rename_session(&session);
    }
    loop {
        match replay.advance() {
            Next::Emit(line) => wire.write(&line)?,
            Next::Stderr(text) => complain(&text),
            Next::Await => hear(&mut replay, &mut wire)?,
            Next::End(code) => return end(&mut wire, code.unwrap_or_default()),
            other => return Err(Stop::Wrong(format!("cannot play {other:?}"))),
        }
    }
}

fn hear(replay: &mut Replay, wire: &mut Wire) -> Result<(), Stop> {
    let heard = match wire.read_line()? {
        Some(line) => replay.accept(&line),
        None => replay.end_input(),
    };
    heard.map_err(|mismatch| Stop::Wrong(mismatch.to_string()))
}

fn end(wire: &mut Wire, code: i32) -> Result<u8, Stop> {
    wire.flush()?;
    if code < 0 {
        misbehave::crash(-code)?;
    }
    Ok(u8::try_from(code).unwrap_or(u8::MAX))
}
