//! `Read`: text with line numbers, images, PDF documents, notebooks.

mod image;
mod lines;
pub(super) mod notebook;
mod pdf;
#[cfg(test)]
mod tests;

use std::fs::{File, Metadata};
use std::io::{Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use falconer_protocol::Object;
use falconer_protocol::tool::{ReadFile, ReadInput, ReadOutput};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::failure::Failure;
use super::file_memory::{Extent, Stamp};
use super::input::{self, Field, Kind};
use super::interrupt::{self, Interrupt, Interruptible};
use super::place::{self, OpenFailure};
use super::text::{self, Encoding, NotText, Text};
use super::{Call, Describe, Outcome, Target, TypedTool};
use crate::workbench::Workbench;

/// Text above this is only read in parts.
const WHOLE: u64 = 256 << 10;
/// The same when the model says that it needs all of it.
const WHOLE_LARGE: u64 = 1 << 20;
/// About 25,000 tokens: where the official CLI ends the first page of a text.
const PAGE: usize = 84_450;
/// Counting the lines of a very large file may take a while.
const LIMIT: Duration = Duration::from_secs(60);

const FIELDS: &[Field] = &[
    Field::required("file_path", Kind::Text, "Absolute path of the file"),
    Field::optional(
        "offset",
        Kind::Count,
        "First line to show, counted from 1; for files too large to read at once",
    ),
    Field::optional(
        "limit",
        Kind::Count,
        "How many lines to show; for files too large to read at once",
    ),
    Field::optional(
        "pages",
        Kind::Text,
        "Pages of a PDF document to look at, such as \"3\" or \"1-5\"; at most 20",
    ),
    Field::optional(
        "allow_large",
        Kind::Flag,
        "Read a text file although it is larger than usual; only when all of it is needed",
    ),
];

/// Reads a file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Read;

impl Describe for Read {
    fn name(&self) -> &str {
        "Read"
    }

    fn description(&self) -> String {
        include_str!("description.md").trim_end().to_owned()
    }

    fn input_schema(&self) -> Value {
        input::schema(FIELDS)
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn path_field(&self) -> Option<&'static str> {
        Some("file_path")
    }
}

impl TypedTool for Read {
    type Input = ReadInput;

    fn parse(&self, input: &Object) -> Result<ReadInput, String> {
        let input: ReadInput = input::read(FIELDS, input)?;
        if input.limit == Some(0) {
            return Err("The parameter `limit` must be at least 1".to_owned());
        }
        if let Some(pages) = &input.pages {
            pdf::check_pages(pages)?;
        }
        Ok(input)
    }

    fn target(&self, input: &ReadInput, workbench: &Workbench) -> Target {
        Target::Read(place::absolute(&input.file_path, workbench))
    }

    fn run(&self, input: Arc<ReadInput>, call: Call) -> BoxFuture<'_, Outcome> {
        let cancelled = call.cancelled.clone();
        Box::pin(interrupt::reading(cancelled, move || {
            read(&input, &call).unwrap_or_else(Outcome::from)
        }))
    }
}

/// One file that is being read.
struct Source<'a> {
    input: &'a ReadInput,
    /// As the model wrote it.
    written: &'a str,
    path: PathBuf,
    file: File,
    metadata: Metadata,
    head: Vec<u8>,
    interrupt: Interrupt,
}

fn read(input: &ReadInput, call: &Call) -> Result<Outcome, Failure> {
    let written = input.file_path.as_str();
    let path = place::absolute(written, &call.workbench);
    let (mut file, metadata) = place::open_regular(&path, &call.source(&path))
        .map_err(|failure| not_opened(&failure, &call.workbench))?;
    let mut head = Vec::new();
    let sniffed = (&mut file)
        .take(text::HEAD as u64)
        .read_to_end(&mut head)
        .and_then(|_| file.seek(SeekFrom::Start(0)));
    sniffed.map_err(|error| failed(&path, &error))?;
    let source = Source {
        input,
        written,
        path,
        file,
        metadata,
        head,
        interrupt: Interrupt::new(call.cancelled.clone(), LIMIT),
    };
    source.read(call)
}

impl Source<'_> {
    fn read(self, call: &Call) -> Result<Outcome, Failure> {
        if let Some(format) = image::Format::of(&self.head) {
            return image::read(&self, format);
        }
        if self.head.starts_with(b"%PDF-") {
            return pdf::read(&self, self.input.pages.as_deref());
        }
        let extension = self.path.extension().unwrap_or_default().to_string_lossy();
        match extension.to_ascii_lowercase().as_str() {
            "png" | "jpg" | "jpeg" | "gif" | "webp" => Err(Failure::failed(format!(
                "{} is named like an image but does not hold a PNG, JPEG, GIF or WebP image. \
                 It may be a saved error page: look at its first bytes with a shell command.",
                self.path.display()
            ))),
            "pdf" => Err(Failure::failed(format!(
                "{} is named like a PDF document but does not hold one. Look at its first bytes \
                 with a shell command.",
                self.path.display()
            ))),
            "ipynb" => notebook::read(&self, call),
            _ if text::is_binary(&self.head) => Err(self.refuse_binary()),
            _ => self.read_text(call),
        }
    }

    fn refuse_binary(&self) -> Failure {
        let kind = infer::get(&self.head).map_or("binary data", |kind| kind.mime_type());
        Failure::refused(format!(
            "{} holds {kind}, which this tool cannot show. Use a shell command or a script that \
             knows the format.",
            self.path.display()
        ))
    }

    fn read_text(self, call: &Call) -> Result<Outcome, Failure> {
        let (offset, limit) = (self.input.offset, self.input.limit);
        let allow_large = self.input.allow_large.unwrap_or_default();
        let in_part = offset.is_some() || limit.is_some();
        let most = if allow_large { WHOLE_LARGE } else { WHOLE };
        if !in_part && self.metadata.len() > most {
            return Err(too_large(&self.path, self.metadata.len(), most));
        }
        let wanted = lines::Wanted {
            start: offset.unwrap_or(1).max(1),
            count: limit.unwrap_or(u64::MAX),
            bytes: if allow_large {
                WHOLE_LARGE as usize
            } else {
                PAGE
            },
        };
        let stamp = Stamp::of(&self.metadata);
        let mut page = self.select(wanted)?;
        if page.is_cut && in_part {
            return Err(Failure::failed(format!(
                "The lines asked for in {} hold more than {} KB. Ask for fewer lines with \
                 `limit`, or search for what is needed with Grep.",
                self.path.display(),
                wanted.bytes >> 10
            )));
        }
        page.keep_whole_lines();
        let is_whole = page.count == page.total && !page.is_cut;
        let extent = if is_whole {
            Extent::Whole
        } else {
            Extent::Part
        };
        let files = &call.workbench.files;
        files.note_read(&self.path, is_whole.then_some(page.hash), stamp, extent);
        Ok(show(self.written, offset.unwrap_or(1), &page))
    }

    /// The lines asked for. UTF-16 is decoded first, so only files of a moderate size.
    fn select(&self, wanted: lines::Wanted) -> Result<lines::Page, Failure> {
        let reader = Interruptible {
            reader: &self.file,
            interrupt: &self.interrupt,
        };
        match Encoding::of(&self.head) {
            Encoding::Utf8 | Encoding::Utf8WithMark => {
                lines::select(reader, wanted).map_err(|error| failed(&self.path, &error))
            }
            Encoding::Utf16Le | Encoding::Utf16Be => {
                let bytes = self.bytes(16 << 20)?;
                let text = Text::decode(&bytes).map_err(|_: NotText| self.refuse_binary())?;
                let mut page = lines::select(text.text.as_bytes(), wanted)
                    .map_err(|error| failed(&self.path, &error))?;
                page.hash = blake3::hash(&bytes);
                Ok(page)
            }
        }
    }

    /// The whole file, unless it is larger than `most`.
    fn bytes(&self, most: u64) -> Result<Vec<u8>, Failure> {
        if self.metadata.len() > most {
            return Err(too_large(&self.path, self.metadata.len(), most));
        }
        let reader = Interruptible {
            reader: &self.file,
            interrupt: &self.interrupt,
        };
        let mut bytes = Vec::new();
        reader
            .take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| failed(&self.path, &error))?;
        if bytes.len() as u64 > most {
            return Err(too_large(&self.path, bytes.len() as u64, most));
        }
        Ok(bytes)
    }
}

/// `asked` is the first line as the model counts it; 0 and 1 are the same.
fn show(written: &str, asked: u64, page: &lines::Page) -> Outcome {
    let start = asked.max(1);
    let text = String::from_utf8_lossy(&page.bytes).replace("\r\n", "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    let mut shown = if page.count == 0 {
        format!(
            "<system-reminder>The file is shorter than that: it has {} lines, and line {start} \
             was asked for.</system-reminder>",
            page.total
        )
    } else if text.is_empty() && page.total == 1 {
        "<system-reminder>The file exists but is empty.</system-reminder>".to_owned()
    } else {
        lines::numbered(&text, start)
    };
    if page.is_cut {
        shown.push_str(&format!(
            "\n\n[Only lines {start} to {} of {} are shown; use `offset` and `limit` for the rest.]",
            start + page.count - 1,
            page.total
        ));
    }
    if page.counting == lines::Counting::GivenUp {
        shown.push_str(&format!(
            "\n\n[The file is very large; it has more than {} lines.]",
            page.total
        ));
    }
    if std::str::from_utf8(&page.bytes).is_err() {
        shown.push_str(
            "\n\n[The file is not valid UTF-8; bytes that could not be read show as U+FFFD. \
             Edit and Write refuse it: change it with a command that keeps its encoding.]",
        );
    }
    let file = ReadFile {
        file_path: Some(written.to_owned()),
        content: Some(text),
        num_lines: Some(page.count),
        start_line: Some(asked),
        total_lines: Some(page.total),
        truncated_by_token_cap: page.is_cut.then_some(true),
        ..ReadFile::default()
    };
    Outcome::text(shown, output("text", file))
}

/// A file that was read, as the host sees it.
fn output(kind: &str, file: ReadFile) -> ReadOutput {
    ReadOutput {
        kind: kind.to_owned(),
        file,
        ..ReadOutput::default()
    }
}

fn not_opened(failure: &OpenFailure, workbench: &Workbench) -> Failure {
    match failure {
        OpenFailure::Missing(path) => Failure::failed(place::missing(path, &workbench.cwd())),
        OpenFailure::Directory(path) => Failure::failed(format!(
            "{} is a directory, not a file. List it with `ls`, or find files in it with Glob.",
            path.display()
        )),
        OpenFailure::Special(_) => Failure::refused(sentence(&failure.to_string())),
        OpenFailure::Io { .. } => Failure::failed(sentence(&failure.to_string())),
    }
}

/// An error text as an answer to the model.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("Failed to read {}: {error}", path.display()))
}

fn too_large(path: &Path, size: u64, most: u64) -> Failure {
    Failure::failed(format!(
        "{} has {} KB, and at most {} KB are read at once. Read it in parts with `offset` and \
         `limit`, or search it with Grep.",
        path.display(),
        size.div_ceil(1 << 10),
        most >> 10
    ))
}
