//! Plays the engine's side of a cassette, without any I/O.

use serde_json::Value;

use crate::ids::Ids;
use crate::kind::HostKind;
use crate::{Cassette, Direction, Entry};

/// A cassette being played: tells what the engine does next.
///
/// Each line of the host must be of a sort that is still to come in the recording. It may come
/// earlier than it did there; what the engine wrote after it comes later all the same.
#[derive(Debug)]
pub struct Replay {
    entries: Vec<Entry>,
    /// For each entry, `true` if the host has sent its line.
    arrived: Vec<bool>,
    position: usize,
    input_ended: bool,
    ids: Ids,
}

/// The next act of the engine.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Next {
    /// It writes this line.
    Emit(Value),
    /// It writes this to stderr.
    Stderr(String),
    /// It waits for the host.
    Await,
    /// It ends with this code, negative for a signal; `None` if the recording does not say.
    End(Option<i32>),
}

/// The host did not do what it did in the recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the host sent {got}, but line {line} of the cassette has {expected}; record the session \
     anew if the host has changed on purpose"
)]
#[non_exhaustive]
pub struct Mismatch {
    /// The line of the cassette that was waited for, counted from 1.
    pub line: usize,
    /// Line of the recording.
    pub expected: String,
    /// Line that the host sent instead.
    pub got: String,
}

impl Replay {
    /// Begins at the start of the cassette.
    pub fn new(cassette: Cassette) -> Self {
        Self {
            arrived: vec![false; cassette.entries.len()],
            entries: cassette.entries,
            position: 0,
            input_ended: false,
            ids: Ids::default(),
        }
    }

    /// Gives the session another id than the recorded one.
    pub fn rename_session(&mut self, live: &str) {
        let mut ids = self.entries.iter().filter_map(|entry| {
            let id = entry.line["session_id"].as_str();
            id.filter(|_| entry.dir == Direction::Out)
        });
        if let Some(recorded) = ids.next().map(str::to_owned) {
            self.ids.map_session(&recorded, live);
        }
    }

    /// Goes one step on, unless the engine waits or has ended.
    pub fn advance(&mut self) -> Next {
        while let Some(entry) = self.entries.get(self.position) {
            match entry.dir {
                Direction::Meta => {}
                Direction::In if self.arrived[self.position] => {}
                Direction::In => return Next::Await,
                Direction::Exit => return Next::End(exit_code(&entry.line)),
                Direction::Err => {
                    let text = entry.line.as_str().unwrap_or_default().to_owned();
                    self.position += 1;
                    return Next::Stderr(text);
                }
                Direction::Out => {
                    let mut line = entry.line.clone();
                    self.ids.apply(&mut line);
                    self.position += 1;
                    return Next::Emit(line);
                }
            }
            self.position += 1;
        }
        Next::End(None)
    }

    /// Takes a line of the host.
    ///
    /// # Errors
    /// [`Mismatch`] if no line of this sort is still to come.
    pub fn accept(&mut self, line: &[u8]) -> Result<(), Mismatch> {
        let (kind, live) = HostKind::of_line(line);
        let found = self.expected().find(|(_, recorded)| *recorded == kind);
        match found.map(|(position, _)| position) {
            Some(position) => {
                self.arrived[position] = true;
                self.ids.learn(&self.entries[position].line, &live);
                Ok(())
            }
            None if kind == HostKind::Blank => Ok(()),
            None => Err(self.mismatch(&kind)),
        }
    }

    /// Takes the end of the host's lines. Hearing it again changes nothing.
    ///
    /// # Errors
    /// [`Mismatch`] if a line is still to come.
    pub fn end_input(&mut self) -> Result<(), Mismatch> {
        if self.input_ended {
            return Ok(());
        }
        self.input_ended = true;
        let missing = self.expected().any(|(_, kind)| kind != HostKind::End);
        if missing {
            return Err(self.mismatch(&HostKind::End));
        }
        let ends: Vec<usize> = self.expected().map(|(position, _)| position).collect();
        ends.into_iter().for_each(|end| self.arrived[end] = true);
        Ok(())
    }

    /// Returns `true` if the engine has written its last line and waits for nothing.
    pub fn is_finished(&self) -> bool {
        let rest = self.entries.iter().enumerate().skip(self.position);
        rest.into_iter().all(|(position, entry)| match entry.dir {
            Direction::In => self.arrived[position],
            Direction::Out => false,
            Direction::Err | Direction::Meta | Direction::Exit => true,
        })
    }

    /// The lines of the host that are still to come.
    fn expected(&self) -> impl Iterator<Item = (usize, HostKind)> {
        let entries = self.entries.iter().enumerate();
        entries
            .filter(|(position, entry)| entry.dir == Direction::In && !self.arrived[*position])
            .map(|(position, entry)| (position, HostKind::of_recorded(&entry.line)))
    }

    fn mismatch(&self, got: &HostKind) -> Mismatch {
        let next = self.expected().next();
        let end = (self.entries.len(), "no further line of the host".to_owned());
        let (line, expected) = next.map_or(end, |(at, kind)| (at + 1, kind.to_string()));
        Mismatch {
            line,
            expected,
            got: got.to_string(),
        }
    }
}

fn exit_code(line: &Value) -> Option<i32> {
    line["code"]
        .as_i64()
        .and_then(|code| i32::try_from(code).ok())
}
