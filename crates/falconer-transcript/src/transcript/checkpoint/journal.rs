//! The journal of the checkpoints: which prompt began when, and which file was kept after it.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use falconer_protocol::MessageUuid;
use serde::{Deserialize, Serialize};

use crate::lines::scan;
use crate::private_file::create_private_dir;

/// The name of the journal beside the copies.
pub(super) const FILE: &str = "journal.jsonl";

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Record {
    Prompt(MessageUuid),
    File(Kept),
}

/// A file as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) path: PathBuf,
    /// Where its directory really was, links resolved; none if it did not exist.
    pub(super) real_parent: Option<PathBuf>,
    pub(super) state: FileState,
}

/// What was at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileState {
    Absent,
    /// A regular file: the name of its copy and its permissions.
    File {
        copy: String,
        mode: u32,
    },
    /// A link or something else that is never touched.
    Untouchable,
}

#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
}

impl Journal {
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            path: directory.join(FILE),
        }
    }

    /// Adds a record, as a line of its own even after a crash in the middle of one.
    pub(super) fn append(&self, record: &Record) -> io::Result<()> {
        if let Some(directory) = self.path.parent() {
            create_private_dir(directory)?;
        }
        let mut line = serde_json::to_vec(record)?;
        line.insert(0, b'\n');
        line.push(b'\n');
        let mut options = OpenOptions::new();
        let options = options.append(true).create(true).mode(0o600);
        options.open(&self.path)?.write_all(&line)
    }

    /// All records that can be read; none if there is no journal.
    pub(super) fn read(&self) -> io::Result<Vec<Record>> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut records = Vec::new();
        scan(&file, &mut |_, line| {
            records.extend(serde_json::from_slice::<Record>(line));
        })?;
        Ok(records)
    }
}

/// The files that changed since a prompt began, as they were then; `None` if it never began.
///
/// The first copy after that moment shows a file as it was at that moment.
pub(super) fn targets(records: Vec<Record>, prompt: &MessageUuid) -> Option<Vec<Kept>> {
    let is_it = |record: &Record| matches!(record, Record::Prompt(began) if began == prompt);
    let first = records.iter().position(is_it)?;
    let mut seen = HashSet::new();
    let mut targets = Vec::new();
    for record in records.into_iter().skip(first) {
        if let Record::File(kept) = record
            && seen.insert(kept.path.clone())
        {
            targets.push(kept);
        }
    }
    Some(targets)
}
