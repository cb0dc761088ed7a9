//! Where entries go: they get their place in the chain, then into the file and the mirror.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use falconer_protocol::content::{ContentBlock, TextBlock};
use falconer_protocol::message::TranscriptMirrorMessage;
use falconer_protocol::{MessageUuid, Object, SessionId};
use falconer_secret::{REDACTED, Redactor};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::flush::Flushes;
use crate::append::Writer;
use crate::id::new_uuid;
use crate::transcript::ToolResultEntry;
use crate::transcript::entry::{Chained, Entry, Line, Loose, Parent};
use crate::transcript::fork::Copy;
use crate::transcript::messages::{OpenCall, cut_off};
use crate::transcript::stamp::Stamp;

/// Lists read titles from the end of a transcript; after this much it is written again.
const TITLE_REACH: u64 = 32 << 10;

/// What has to happen before the first entry.
#[derive(Debug)]
pub(super) enum Prelude {
    New(PathBuf),
    Resume {
        writer: Writer,
        closing: Vec<OpenCall>,
    },
    Fork {
        path: PathBuf,
        copy: Copy,
        closing: Vec<OpenCall>,
    },
}

/// The file of a transcript.
#[derive(Debug)]
enum Store {
    /// Nothing is kept.
    Nowhere,
    /// Nothing was added yet.
    Waiting(Box<Prelude>),
    Open(Writer),
    /// The file could not be made; its path, for messages.
    Lost(PathBuf),
}

#[derive(Debug)]
pub(super) struct Sink {
    session: SessionId,
    pub(super) stamp: Stamp,
    store: Store,
    leaf: Option<MessageUuid>,
    /// Entries that did not reach the file; nothing must name them as its parent.
    missing: HashSet<MessageUuid>,
    /// Whether the last write failed, so that it is told once and not for every entry.
    failing: bool,
    flushes: Flushes,
    mirror: Option<Vec<Value>>,
    /// The title that a person gave, to write it again.
    pub(super) title: Option<String>,
    since_title: u64,
    pub(super) warnings: Vec<String>,
}

impl Sink {
    pub(super) fn new(
        session: SessionId,
        stamp: Stamp,
        prelude: Option<Prelude>,
        leaf: Option<MessageUuid>,
    ) -> Self {
        Self {
            session,
            stamp,
            store: prelude.map_or(Store::Nowhere, |prelude| Store::Waiting(Box::new(prelude))),
            leaf,
            missing: HashSet::new(),
            failing: false,
            flushes: Flushes::default(),
            mirror: None,
            title: None,
            since_title: 0,
            warnings: Vec::new(),
        }
    }

    pub(super) fn mirror(&mut self) {
        self.mirror = Some(Vec::new());
    }

    pub(super) fn restart(&mut self, session: SessionId, path: Option<PathBuf>) {
        self.flush();
        self.session = session;
        self.leaf = None;
        self.missing.clear();
        self.title = None;
        let prelude = path.map(|path| Box::new(Prelude::New(path)));
        self.store = prelude.map_or(Store::Nowhere, Store::Waiting);
    }

    #[cfg(test)]
    pub(super) fn leaf(&self) -> Option<&MessageUuid> {
        self.leaf.as_ref()
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match &self.store {
            Store::Nowhere => None,
            Store::Open(writer) => Some(writer.path()),
            Store::Lost(path) => Some(path),
            Store::Waiting(prelude) => Some(match prelude.as_ref() {
                Prelude::New(path) | Prelude::Fork { path, .. } => path,
                Prelude::Resume { writer, .. } => writer.path(),
            }),
        }
    }

    pub(super) fn append(&mut self, entry: Entry) {
        self.begin();
        match entry.0 {
            Line::Chained(entry) => self.append_chained(entry),
            Line::Loose(entry) => {
                self.append_loose(entry);
                self.repeat_title();
            }
        }
    }

    /// Does what the first entry has to wait for.
    fn begin(&mut self) {
        if !matches!(self.store, Store::Waiting(_)) {
            return;
        }
        let Store::Waiting(prelude) = std::mem::replace(&mut self.store, Store::Nowhere) else {
            return;
        };
        let closing = match *prelude {
            Prelude::New(path) => {
                self.create(&path, None);
                Vec::new()
            }
            Prelude::Resume { writer, closing } => {
                self.store = Store::Open(writer);
                closing
            }
            Prelude::Fork {
                path,
                copy,
                closing,
            } => {
                self.create(&path, Some(copy));
                closing
            }
        };
        for call in closing {
            self.append_chained_entry(close(call));
        }
    }

    fn create(&mut self, path: &Path, copy: Option<Copy>) {
        let written = Writer::create(path).and_then(|writer| {
            self.store = Store::Open(writer);
            copy.map_or(Ok(()), |copy| self.copy(copy))
        });
        if let Err(error) = written {
            if matches!(self.store, Store::Open(_)) {
                // Half a copy would look like a whole session.
                let _ = std::fs::remove_file(path);
            }
            self.store = Store::Lost(path.to_path_buf());
            self.warn(&error, path);
        }
    }

    fn copy(&mut self, copy: Copy) -> io::Result<()> {
        let session = self.session.clone();
        copy.write(&session, &mut |entry| self.store_entry(entry))
    }

    fn append_chained_entry(&mut self, entry: Entry) {
        if let Line::Chained(entry) = entry.0 {
            self.append_chained(entry);
        }
    }

    fn append_chained(&mut self, entry: Chained) {
        if entry.is_prompt {
            self.stamp.refresh();
        }
        let uuid = entry.uuid.clone();
        let after = entry.parent.clone();
        let (parent, logical) = self.parents(&after);
        let mut fields = entry.into_fields(parent, logical);
        self.stamp.add_to(&mut fields, &self.session);
        match self.write(fields) {
            Written::Yes => self.leaf = Some(uuid),
            Written::No => {
                self.missing.insert(uuid);
            }
        }
    }

    /// The parent that an entry names, and the one it only mentions.
    fn parents<'a>(
        &'a self,
        parent: &'a Parent,
    ) -> (Option<&'a MessageUuid>, Option<&'a MessageUuid>) {
        let leaf = self.leaf.as_ref();
        match parent {
            Parent::Leaf => (leaf, None),
            Parent::Of(uuid) if self.missing.contains(uuid) => (leaf, None),
            Parent::Of(uuid) => (Some(uuid), None),
            Parent::Nothing => (None, leaf),
        }
    }

    /// Writes a title again when lists would no longer find it.
    fn repeat_title(&mut self) {
        let title = self
            .title
            .clone()
            .filter(|_| self.since_title > TITLE_REACH);
        if let Some(title) = title {
            self.append_loose(Loose::CustomTitle(title));
        }
    }

    fn append_loose(&mut self, entry: Loose) {
        if let Loose::CustomTitle(title) = &entry {
            self.title = Some(title.clone());
        }
        let is_title = matches!(entry, Loose::CustomTitle(_));
        let fields = entry.into_fields(&self.session, self.leaf.as_ref());
        self.write(fields);
        if is_title {
            self.since_title = 0;
        }
    }

    fn write(&mut self, fields: Object) -> Written {
        match self.store_entry(fields) {
            Ok(()) => {
                self.failing = false;
                Written::Yes
            }
            Err(error) => {
                let path = self.path().map(Path::to_path_buf).unwrap_or_default();
                self.warn(&error, &path);
                Written::No
            }
        }
    }

    fn store_entry(&mut self, fields: Object) -> io::Result<()> {
        let mut entry = Value::Object(fields);
        redact(&self.stamp.redactor, &mut entry);
        match &mut self.store {
            Store::Open(writer) => {
                let line = entry.to_string();
                writer.append(&line)?;
                self.since_title += line.len() as u64;
                self.flushes.note_write();
            }
            Store::Nowhere | Store::Waiting(_) => {}
            // What is not kept is not mirrored either: a copy must not know more.
            Store::Lost(_) => return Ok(()),
        }
        if let Some(mirror) = &mut self.mirror {
            mirror.push(entry);
        }
        Ok(())
    }

    fn warn(&mut self, error: &io::Error, path: &Path) {
        if std::mem::replace(&mut self.failing, true) {
            return;
        }
        let path = path.display();
        self.warnings.push(format!(
            "failed to save the session to {path}: {error}; what is said now may be missing \
             when it is resumed"
        ));
    }

    pub(super) fn take_mirror(&mut self) -> Option<TranscriptMirrorMessage> {
        let file_path = self.path()?.to_string_lossy().into_owned();
        let entries = self.mirror.as_mut().map(std::mem::take)?;
        (!entries.is_empty()).then(|| TranscriptMirrorMessage {
            file_path,
            entries,
            ..TranscriptMirrorMessage::default()
        })
    }

    pub(super) fn flush(&mut self) {
        let Store::Open(writer) = &self.store else {
            return;
        };
        let outcome = self.flushes.start(writer);
        self.flushed(outcome);
    }

    /// Waits for the running flush, then for one more if there is something new.
    pub(super) fn last_flush(&mut self) -> Option<BoxFuture<'static, io::Result<()>>> {
        match &self.store {
            Store::Open(writer) => self.flushes.last(writer),
            Store::Nowhere | Store::Waiting(_) | Store::Lost(_) => None,
        }
    }

    pub(super) fn flushed(&mut self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            let path = self.path().map(Path::to_path_buf).unwrap_or_default();
            self.warn(&error, &path);
        }
    }
}

/// Takes secrets out of an entry. A thought that held one is left out: it is signed, and the API
/// refuses one that was changed.
fn redact(redactor: &Redactor, entry: &mut Value) {
    let content = entry.pointer_mut("/message/content");
    if let Some(Value::Array(blocks)) = content {
        for block in blocks.iter_mut() {
            let is_thought = block.get("type").is_some_and(|kind| kind == "thinking");
            if redactor.value(block) && is_thought {
                let text = ContentBlock::Text(TextBlock::new(REDACTED));
                *block = serde_json::to_value(text).unwrap_or_default();
            }
        }
    }
    redactor.value(entry);
}

/// Whether an entry is in the transcript now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Yes,
    No,
}

/// Returns the entry with the result of a call that never got one.
fn close(call: OpenCall) -> Entry {
    Entry::tool_result(ToolResultEntry {
        uuid: new_uuid(),
        block: cut_off(call.id),
        prompt_id: new_uuid().into_string(),
        call: call.entry,
        output: None,
        permission: None,
    })
}

#[cfg(test)]
mod tests {
    use falconer_secret::Environment;
    use serde_json::json;

    use super::*;
    use crate::transcript::load;
    use crate::transcript::place::SessionPlace;

    fn sink(file: &Path) -> Sink {
        let writer = Writer::open(file).expect("opened");
        let prelude = Prelude::Resume {
            writer,
            closing: Vec::new(),
        };
        let stamp = Stamp::new("1", &Environment::default(), Path::new("/"));
        Sink::new(SessionId::new("s"), stamp, Some(prelude), None)
    }

    #[test]
    fn a_full_disk_is_told_once_and_breaks_no_chain() {
        let mut sink = sink(Path::new("/dev/full"));
        sink.mirror();
        let lost = new_uuid();
        for uuid in [lost.clone(), new_uuid()] {
            sink.append(note(uuid));
        }
        assert_eq!(sink.warnings.len(), 1, "{:?}", sink.warnings);
        assert!(sink.warnings[0].contains("/dev/full"));
        assert_eq!(sink.leaf(), None);
        assert_eq!(sink.take_mirror(), None);

        // There is room again.
        let dir = tempfile::tempdir().expect("temp dir");
        let place = SessionPlace::new(dir.path(), Path::new("/"));
        let file = place.file(&SessionId::new("s"));
        sink.store = Store::Open(Writer::create(&file).expect("created"));
        let first = new_uuid();
        sink.append(note(first.clone()));
        sink.append(Entry::tool_result(ToolResultEntry {
            uuid: new_uuid(),
            block: json!({ "type": "tool_result" }),
            prompt_id: "p".to_owned(),
            call: lost,
            output: None,
            permission: None,
        }));
        let text = std::fs::read_to_string(&file).expect("readable");
        let last: Value = serde_json::from_str(text.lines().last().expect("some")).expect("JSON");
        assert_eq!(last["parentUuid"], json!(first));
        assert_eq!(load(&file).expect("readable").leaf.as_ref(), sink.leaf());
        assert_eq!(sink.take_mirror().map(|frame| frame.entries.len()), Some(2));
    }

    fn note(uuid: MessageUuid) -> Entry {
        Entry::summary(uuid, json!("x"), "p")
    }
}
