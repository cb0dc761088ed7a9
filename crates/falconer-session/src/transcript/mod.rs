//! A run on disk: one JSON line per event, only ever appended to, and read back into events.
//!
//! A line has `type`, `source` (`main` or `subagent:` with the call that made it), `sequence`,
//! `time`, `session` (the engine's id, once known), `run`, `correlation` (the call, message,
//! request or task it is about), `detail` and `raw` (what the engine said, with the first event
//! of each message). Deltas are streamed and not stored.

mod archive;

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use falconer_event::{Body, Event};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use archive::Archive;

/// One line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// The type of the event.
    #[serde(rename = "type")]
    pub kind: String,
    /// `main`, or `subagent:` and the tool call that made it.
    pub source: String,
    /// The number of the event in its session.
    pub sequence: u64,
    /// When it was recorded.
    pub time: String,
    /// The engine's id of the session, once it is known.
    #[serde(default)]
    pub session: Option<String>,
    /// The run.
    #[serde(default)]
    pub run: String,
    /// What ties it to other lines: the call, message, request or task it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<String>,
    /// The rest of the event: session, run, turn, source, parent, data.
    pub detail: Value,
    /// What the engine said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
}

impl Entry {
    fn of(event: &Event, native: Option<&str>, raw: Option<Value>) -> Option<Self> {
        let mut detail = serde_json::to_value(event).ok()?;
        let fields = detail.as_object_mut()?;
        let kind = fields.remove("type")?.as_str()?.to_owned();
        for envelope in ["seq", "time", "raw"] {
            fields.remove(envelope);
        }
        let parent = event.parent.as_ref();
        Some(Self {
            kind,
            source: parent.map_or_else(
                || "main".to_owned(),
                |id| format!("subagent:{}", id.as_str()),
            ),
            sequence: event.seq,
            time: event.time.clone(),
            session: native.map(str::to_owned),
            run: event.run.as_str().to_owned(),
            correlation: event.body.correlation().map(str::to_owned),
            detail,
            raw,
        })
    }

    /// The event this line was written for.
    ///
    /// # Errors
    /// When the detail is no event.
    pub fn event(&self) -> Result<Event, serde_json::Error> {
        let mut event = self.detail.clone();
        if let Some(fields) = event.as_object_mut() {
            fields.insert("type".to_owned(), json!(self.kind));
            fields.insert("seq".to_owned(), json!(self.sequence));
            fields.insert("time".to_owned(), json!(self.time));
        }
        serde_json::from_value(event)
    }
}

/// Appends to a transcript.
#[derive(Debug)]
pub(crate) struct Transcript {
    file: File,
    session: Option<String>,
}

impl Transcript {
    /// Opens a transcript, only for its owner to read.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600);
        let mut file = options.open(path)?;
        if ends_in_half_a_line(&mut file)? {
            // The half line of a crash must not take the next one with it.
            file.write_all(b"\n")?;
        }
        Ok(Self {
            file,
            session: None,
        })
    }

    /// Writes one line in one call, so that a crash leaves at most one half line, at the end.
    pub(crate) fn append(&mut self, event: &Event, raw: Option<Value>) -> io::Result<()> {
        match &event.body {
            delta if delta.is_ephemeral() => return Ok(()),
            Body::RunStarted(started) => self.session = Some(started.native_session.clone()),
            _ => {}
        }
        let Some(entry) = Entry::of(event, self.session.as_deref(), raw) else {
            return Ok(());
        };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

fn ends_in_half_a_line(file: &mut File) -> io::Result<bool> {
    // Devices and pipes have no end to look at.
    if !file.metadata()?.is_file() || file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(io::SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Reads a transcript back into its events. Lines that cannot be read, as a crash leaves one,
/// are counted and passed over.
///
/// # Errors
/// When the file cannot be read.
pub fn replay(transcript: impl BufRead) -> io::Result<(Vec<Event>, usize)> {
    let (mut events, mut unreadable) = (Vec::new(), 0);
    for line in transcript.split(b'\n') {
        let line = line?;
        if line.is_empty() {
            continue;
        }
        let entry: Result<Entry, _> = serde_json::from_slice(&line);
        match entry.and_then(|entry| entry.event()) {
            Ok(event) => events.push(event),
            Err(_) => unreadable += 1,
        }
    }
    Ok((events, unreadable))
}
