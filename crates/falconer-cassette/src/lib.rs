//! Recorded sessions of an engine: written by a recorder around any transport, given back by a player.
//!
//! A cassette is a file with one JSON object for each line, `{t_ms, dir, line}`. Secrets are taken
//! out before anything is written.

mod error;
mod ids;
mod kind;
mod player;
mod recorder;
mod redact;
mod replay;

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use error::Error;
pub use player::{Player, Progress};
pub use recorder::{Recorder, record};
pub use replay::{Mismatch, Next, Replay};

/// Mark in a cassette for the end of the engine's input.
pub(crate) const END_OF_INPUT: &str = "[EOF]";

/// A recorded session.
///
/// ```
/// use falconer_cassette::Cassette;
///
/// # fn main() -> Result<(), falconer_cassette::Error> {
/// let cassette = Cassette::parse(concat!(
///     r#"{"t_ms": 0, "dir": "in", "line": {"type": "user"}}"#, "\n",
///     r#"{"t_ms": 9, "dir": "out", "line": {"type": "result"}}"#, "\n",
/// ))?;
/// let transport = cassette.player(); // a `falconer::Transport`
/// # drop(transport);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Cassette {
    /// Lines, in order.
    pub entries: Vec<Entry>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// Milliseconds since the start.
    pub t_ms: u64,
    /// Speaker.
    pub dir: Direction,
    /// The line as JSON; a string if it is not JSON, or the mark for the end of input.
    pub line: Value,
}

/// The speaker of an [`Entry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Direction {
    /// The host, to the engine.
    In,
    /// The engine, to the host.
    Out,
    /// The engine, on stderr.
    Err,
    /// Nobody: how the engine was started, signals sent.
    Meta,
    /// The engine ended: `{"code": n}`, negative for a signal.
    Exit,
}

impl Cassette {
    /// Reads a cassette file.
    ///
    /// # Errors
    /// [`Error::Read`], or [`Error::Format`] with the file and the line.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::read(&text, &path.display().to_string())
    }

    /// Reads a cassette from text.
    ///
    /// # Errors
    /// [`Error::Format`] with the line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::read(text, "the cassette")
    }

    fn read(text: &str, name: &str) -> Result<Self, Error> {
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, line)| !line.trim().is_empty());
        let entry = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|source| Error::Format {
                what: format!("line {} of {name}", number + 1),
                source,
            })
        };
        let entries = lines.map(entry).collect::<Result<_, Error>>()?;
        Ok(Self { entries })
    }

    /// The cassette as text, one entry a line.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let line = serde_json::to_string(entry).unwrap_or_default();
            // Writing to a string does not fail.
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// A transport that plays the engine's side of the session.
    ///
    /// Lines come as soon as the host has sent what preceded them in the recording. Nothing
    /// waits for the recorded times.
    pub fn player(&self) -> Player {
        Player::new(Replay::new(self.clone()))
    }
}
