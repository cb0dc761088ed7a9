//! `Write`: a whole file, new or instead of the old one.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer_protocol::Object;
use falconer_protocol::tool::{PatchHunk, WriteInput};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;

use super::failure::Failure;
use super::file_memory::{Extent, Stamp};
use super::input::{self, Field, Kind};
use super::place::{self, OpenFailure};
use super::read::sentence;
use super::replace::{self, Before, ReplaceFailure, Spot};
use super::text::{Encoding, Endings, NotText, Text};
use super::{Call, Describe, Foresight, Outcome, Target, TypedTool, interrupt, patch};
use crate::workbench::Workbench;

/// Larger files are not changed: they would be held in memory several times.
pub(super) const LARGEST: u64 = 64 << 20;

const FIELDS: &[Field] = &[
    Field::required(
        "file_path",
        Kind::Text,
        "Absolute path of the file to write",
    ),
    Field::required("content", Kind::Text, "The whole new content of the file"),
];

/// Writes a file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Write;

impl Describe for Write {
    fn name(&self) -> &str {
        "Write"
    }

    fn description(&self) -> String {
        "Writes a whole file: creates it, with the directories it needs, or replaces what was \
         there.\n\n\
         - Read a file that exists before you replace it. If it was changed on disk since you \
         read it, the call is refused; read it again.\n\
         - For a change of some lines use Edit: it is shorter and safer.\n\
         - The encoding, the line endings and the mode of a file that is replaced stay."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        input::schema(FIELDS)
    }

    fn is_read_only(&self) -> bool {
        false
    }

    fn path_field(&self) -> Option<&'static str> {
        Some("file_path")
    }
}

impl TypedTool for Write {
    type Input = WriteInput;

    fn parse(&self, input: &Object) -> Result<WriteInput, String> {
        input::read(FIELDS, input)
    }

    fn foresight(&self) -> Option<Foresight<WriteInput>> {
        Some(|input, call| match plan(input, call) {
            Err(Failure::Refused(text)) => Err(text),
            _ => Ok(()),
        })
    }

    fn target(&self, input: &WriteInput, workbench: &Workbench) -> Target {
        Target::Write(place::absolute(&input.file_path, workbench))
    }

    fn run(&self, input: Arc<WriteInput>, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(carry_out(input, call, plan))
    }
}

/// A change that has been worked out but not made.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    /// The same file without links in its directories.
    pub(super) real: PathBuf,
    pub(super) before: Before,
    pub(super) bytes: Vec<u8>,
    /// What is known of the new file.
    pub(super) extent: Extent,
    /// What is said when it is done.
    pub(super) done: Outcome,
}

/// Works out the change that a call asks for.
type Plan<Input> = fn(&Input, &Call) -> Result<Change, Failure>;

/// Works out a change, saves the old state, then makes the change.
pub(super) async fn carry_out<Input: Send + Sync + 'static>(
    input: Arc<Input>,
    call: Call,
    plan: Plan<Input>,
) -> Outcome {
    make(input, call, plan).await.unwrap_or_else(Outcome::from)
}

async fn make<Input: Send + Sync + 'static>(
    input: Arc<Input>,
    call: Call,
    plan: Plan<Input>,
) -> Result<Outcome, Failure> {
    let planning = interrupt::changing(move || plan(&input, &call).map(|it| (call, it)));
    let (call, change) = planning.await?;
    if call.cancelled.is_cancelled() {
        return Err(Failure::failed(
            "The call was cancelled; nothing was written",
        ));
    }
    let saved =
        call.workbench
            .shop
            .checkpoints
            .before_change(&call.prompt, &change.path, &change.real);
    if let Err(error) = saved {
        // The user asked for the change; only going back to before it will not work.
        tracing::warn!(path = %change.path.display(), %error, "failed to save a checkpoint");
    }
    interrupt::changing(move || {
        let spot = Spot {
            path: &change.path,
            real: &change.real,
        };
        let stamp = replace::replace(spot, change.before, &change.bytes)
            .map_err(|failure| not_written(&failure))?;
        let hash = Some(blake3::hash(&change.bytes));
        let files = &call.workbench.files;
        files.note_read(&change.path, hash, stamp, change.extent);
        Ok(change.done)
    })
    .await
}

/// A file before a change.
#[derive(Debug)]
pub(super) struct Existing {
    pub(super) text: Text,
    pub(super) stamp: Stamp,
}

/// Opens the file to be changed, if there is one; refuses what must not be changed.
pub(super) fn existing(
    path: &Path,
    real: &Path,
    workbench: &Workbench,
) -> Result<Option<Existing>, Failure> {
    replace::refuse_link(path).map_err(|failure| not_written(&failure))?;
    let (file, metadata) = match place::open_regular(path, real) {
        Ok(opened) => opened,
        Err(OpenFailure::Missing(_)) => {
            // A file that was read and is gone has been changed by somebody, too.
            return workbench.files.check_unchanged(path).map_or_else(
                |stale| Err(Failure::refused(sentence(&stale.to_string()))),
                |()| Ok(None),
            );
        }
        Err(failure) => return Err(Failure::refused(sentence(&failure.to_string()))),
    };
    if metadata.len() > LARGEST {
        return Err(Failure::refused(format!(
            "{} has {} MB; files above {} MB are not changed by this tool. Use a shell command.",
            path.display(),
            metadata.len() >> 20,
            LARGEST >> 20
        )));
    }
    let stamp = Stamp::of(&metadata);
    let mut bytes = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::failed(format!("Failed to read {}: {error}", path.display())))?;
    workbench
        .files
        .check_unchanged(path)
        .map_err(|stale| Failure::refused(sentence(&stale.to_string())))?;
    if workbench.shop.limits.strict_reads && !workbench.files.has_read(path) {
        return Err(unread(path));
    }
    let text = Text::decode(&bytes).map_err(|reason| not_text(path, reason))?;
    Ok(Some(Existing { text, stamp }))
}

pub(super) fn unread(path: &Path) -> Failure {
    Failure::refused(format!(
        "{} has not been read yet. Read it before you change it.",
        path.display()
    ))
}

fn not_text(path: &Path, reason: NotText) -> Failure {
    Failure::refused(format!(
        "{} is not changed, because {reason}. Change it with a shell command that keeps its \
         encoding, or ask whether it may be converted to UTF-8.",
        path.display()
    ))
}

pub(super) fn not_written(failure: &ReplaceFailure) -> Failure {
    let text = sentence(&failure.to_string());
    match failure {
        ReplaceFailure::Changed(_) => Failure::refused(text),
        ReplaceFailure::Link { .. } | ReplaceFailure::Io { .. } => Failure::failed(text),
    }
}

/// The change as the host sees it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    file_path: &'a str,
    content: &'a str,
    structured_patch: Vec<PatchHunk>,
    /// Null for a new file, and when it is too large.
    original_file: Option<&'a str>,
    user_modified: bool,
}

fn plan(input: &WriteInput, call: &Call) -> Result<Change, Failure> {
    let (written, content) = (input.file_path.as_str(), input.content.as_str());
    let path = place::absolute(written, &call.workbench);
    let real = call.destination(&path);
    let existing = existing(&path, &real, &call.workbench)?;
    let (kind, verb, old) = match &existing {
        Some(existing) => ("update", "Updated", Some(existing.text.text.as_str())),
        None => ("create", "Created", None),
    };
    let output = Output {
        kind,
        file_path: written,
        content,
        structured_patch: old.map_or_else(Vec::new, |old| patch::hunks(old, content)),
        original_file: old.and_then(patch::original),
        user_modified: false,
    };
    let new_file = Text {
        text: String::new(),
        encoding: Encoding::Utf8,
        endings: Endings::Lf,
    };
    let (before, form) = match &existing {
        Some(existing) => (Before::File(existing.stamp), &existing.text),
        None => (Before::Absent, &new_file),
    };
    Ok(Change {
        before,
        bytes: form.encode(content),
        extent: Extent::Whole,
        done: Outcome::text(
            format!("{verb} {written}. You know its content; there is no need to read it again."),
            output,
        ),
        path,
        real,
    })
}
