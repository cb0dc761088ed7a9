//! `Edit`: one text in a file becomes another.

mod quotes;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use falconer_protocol::Object;
use falconer_protocol::tool::{EditInput, PatchHunk};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;

use super::failure::Failure;
use super::file_memory::Extent;
use super::input::{self, Field, Kind};
use super::replace::Before;
use super::text::{Encoding, Endings, Text};
use super::write::{self, Change};
use super::{Call, Describe, Foresight, Outcome, Target, TypedTool, patch, place};
use crate::workbench::Workbench;

const FIELDS: &[Field] = &[
    Field::required(
        "file_path",
        Kind::Text,
        "Absolute path of the file to change",
    ),
    Field::required(
        "old_string",
        Kind::Text,
        "The text to replace, exactly as in the file",
    ),
    Field::required(
        "new_string",
        Kind::Text,
        "The text to put in its place; not the same as old_string",
    ),
    Field::optional(
        "replace_all",
        Kind::Flag,
        "Replace every occurrence of old_string; false unless given",
    ),
];

/// Replaces text in a file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Edit;

impl Describe for Edit {
    fn name(&self) -> &str {
        "Edit"
    }

    fn description(&self) -> String {
        "Replaces one text in a file by another.\n\n\
         - Read the file first, and take `old_string` from what you saw, without the line \
         numbers and the tab after them. Spaces and indentation have to be the same.\n\
         - `old_string` must be in the file exactly once: add lines around it until it is. Or \
         set `replace_all` to change every occurrence, for example to rename something.\n\
         - An empty `old_string` creates a file that does not exist yet.\n\
         - If the file was changed on disk since you read it, the call is refused; read it again."
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

    fn complete(&self, mut input: Object) -> Object {
        let flag = input.entry("replace_all").or_insert(Value::Null);
        if flag.is_null() {
            *flag = Value::Bool(false);
        }
        input
    }
}

impl TypedTool for Edit {
    type Input = EditInput;

    fn parse(&self, input: &Object) -> Result<EditInput, String> {
        input::read(FIELDS, input)
    }

    fn foresight(&self) -> Option<Foresight<EditInput>> {
        Some(|input, call| match plan(input, call) {
            Err(Failure::Refused(text)) => Err(text),
            _ => Ok(()),
        })
    }

    fn target(&self, input: &EditInput, workbench: &Workbench) -> Target {
        Target::Write(place::absolute(&input.file_path, workbench))
    }

    fn run(&self, input: Arc<EditInput>, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(write::carry_out(input, call, plan))
    }
}

fn plan(input: &EditInput, call: &Call) -> Result<Change, Failure> {
    let written = input.file_path.as_str();
    let (old, new) = (input.old_string.as_str(), input.new_string.as_str());
    if old == new {
        return Err(Failure::refused(
            "There is nothing to change: old_string and new_string are the same.",
        ));
    }
    let path = place::absolute(written, &call.workbench);
    if path.extension().is_some_and(|it| it == "ipynb") {
        return Err(Failure::refused(format!(
            "{written} is a Jupyter notebook. Change its cells with NotebookEdit."
        )));
    }
    let files = &call.workbench.files;
    let was_whole = files.has_read_whole(&path);
    let real = call.destination(&path);
    let existing = write::existing(&path, &real, &call.workbench)?;
    let (before, file) = match existing {
        Some(existing) => (Before::File(existing.stamp), existing.text),
        None if old.is_empty() => (Before::Absent, new_file()),
        None => {
            let cwd = call.workbench.cwd();
            return Err(Failure::refused(place::missing(&path, &cwd)));
        }
    };
    let replace_all = input.replace_all.unwrap_or_default();
    let edited = edit(&file, old, new, Occurrences::asked(replace_all))
        .map_err(|reason| Failure::refused(format!("{written} was not changed: {reason}")))?;
    let is_known = was_whole || before == Before::Absent;
    let original = file.marked(&file.text);
    let output = Output {
        file_path: written,
        old_string: &edited.old,
        new_string: new,
        original_file: patch::original(&original),
        structured_patch: patch::hunks(&original, &file.marked(&edited.text)),
        user_modified: false,
        replace_all,
        content_not_in_model_context: !is_known,
    };
    let done = Outcome::text(done(written, edited.count), output);
    Ok(Change {
        path,
        real,
        before,
        bytes: file.encode(&edited.text),
        extent: if is_known {
            Extent::Whole
        } else {
            Extent::Part
        },
        done,
    })
}

/// The change as the host sees it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    file_path: &'a str,
    old_string: &'a str,
    new_string: &'a str,
    /// Null when it is too large.
    original_file: Option<&'a str>,
    structured_patch: Vec<PatchHunk>,
    user_modified: bool,
    replace_all: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    content_not_in_model_context: bool,
}

fn new_file() -> Text {
    Text {
        text: String::new(),
        encoding: Encoding::Utf8,
        endings: Endings::Lf,
    }
}

fn done(written: &str, count: usize) -> String {
    match count {
        1 => format!("Updated {written}."),
        count => format!("Updated {written}: {count} occurrences were replaced."),
    }
}

/// How many occurrences may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occurrences {
    One,
    All,
}

impl Occurrences {
    fn asked(replace_all: bool) -> Self {
        if replace_all { Self::All } else { Self::One }
    }
}

/// A text after an edit.
#[derive(Debug, PartialEq, Eq)]
struct Edited {
    text: String,
    /// What was replaced, as the file had it.
    old: String,
    count: usize,
}

/// Why a text cannot be edited.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Mismatch {
    #[error("old_string is empty, but the file already exists and is not empty.")]
    Exists,
    #[error(
        "old_string is not in the file. Read the file again and copy the text exactly.\nold_string: {0}"
    )]
    Absent(String),
    #[error(
        "old_string occurs {count} times. Add lines around it until it occurs once, or set \
         replace_all to replace all {count}.\nold_string: {old}"
    )]
    Several { count: usize, old: String },
}

fn edit(file: &Text, old: &str, new: &str, wanted: Occurrences) -> Result<Edited, Mismatch> {
    let text = file.text.as_str();
    if old.is_empty() {
        if !text.is_empty() {
            return Err(Mismatch::Exists);
        }
        return Ok(Edited {
            text: new.to_owned(),
            old: String::new(),
            count: 1,
        });
    }
    let (found, new) = find(file, old, new).ok_or_else(|| Mismatch::Absent(start_of(old)))?;
    let count = text.matches(&found).count();
    let edited = match wanted {
        Occurrences::One if count > 1 => {
            return Err(Mismatch::Several {
                count,
                old: start_of(old),
            });
        }
        Occurrences::One => text.replacen(&whole_line(text, &found, &new), &new, 1),
        // Those that are not at the end of a line are left by the first.
        Occurrences::All => text
            .replace(&whole_line(text, &found, &new), &new)
            .replace(&found, &new),
    };
    Ok(Edited {
        text: edited,
        old: found,
        count,
    })
}

/// Text that is taken out to the end of its line takes that end with it, so that no empty line
/// is left.
fn whole_line(text: &str, found: &str, new: &str) -> String {
    let line = format!("{found}\n");
    if new.is_empty() && !found.ends_with('\n') && text.contains(&line) {
        return line;
    }
    found.to_owned()
}

/// What to look for and what to put there: as given, or in the file's own line endings or quotes.
fn find(file: &Text, old: &str, new: &str) -> Option<(String, String)> {
    let text = file.text.as_str();
    if file.endings != Endings::Mixed {
        let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
        // A file without line ends takes those of the new text as they come.
        if text.contains(&old) && old != new {
            return Some((old, new));
        }
    }
    if text.contains(old) {
        return Some((old.to_owned(), new.to_owned()));
    }
    let pairs = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    if file.endings == Endings::Mixed && text.contains(&pairs(old)) {
        return Some((pairs(old), pairs(new)));
    }
    let found = quotes::as_in_file(text, old)?;
    let new = quotes::in_the_style_of(&found, new);
    (found != new).then_some((found, new))
}

fn start_of(old: &str) -> String {
    let end = old.floor_char_boundary(500);
    let more = if end < old.len() { "…" } else { "" };
    format!("{}{more}", &old[..end])
}
