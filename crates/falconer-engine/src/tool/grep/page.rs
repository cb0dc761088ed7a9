//! The part of the hits that is shown.

use std::cmp::Reverse;
use std::path::PathBuf;

use serde::Serialize;

use super::request::{Mode, Request};
use super::search::{Hit, Hits};
use super::{Outcome, place};

pub(super) fn show(request: &Request, hits: Hits, timed_out: bool) -> Outcome {
    let unread = hits.unread;
    let (mut text, mut output) = match request.mode {
        Mode::Content => content(request, hits),
        Mode::Files => files(request, hits),
        Mode::Count => count(request, &hits),
    };
    output.timed_out = timed_out;
    if timed_out {
        text.push_str("\n\n[The search took too long and was ended; there may be more matches.]");
    }
    if unread > 0 {
        let note = format!(
            "\n\n[{unread} files could not be searched, for example because a line is too long for \
             this pattern; a simpler one may find more.]"
        );
        text.push_str(&note);
    }
    Outcome::text(text, output)
}

/// The hits as the host sees them. Some fields are of one mode only.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    mode: &'static str,
    num_files: usize,
    filenames: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_lines: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_matches: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_files: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_limit: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied_offset: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timed_out: bool,
}

/// What was left out, if anything was.
struct Cut {
    limit: Option<usize>,
    offset: Option<usize>,
}

impl Cut {
    fn new(request: &Request, total: usize) -> Self {
        let rest = total.saturating_sub(request.offset);
        Self {
            limit: (rest > request.limit).then_some(request.limit),
            offset: (request.offset > 0).then_some(request.offset),
        }
    }

    fn note(&self) -> Option<String> {
        let limit = self.limit.map(|limit| format!("limit: {limit}"));
        let offset = self.offset.map(|offset| format!("offset: {offset}"));
        let parts: Vec<String> = limit.into_iter().chain(offset).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn output(&self, mode: &'static str) -> Output {
        Output {
            mode,
            applied_limit: self.limit,
            applied_offset: self.offset,
            ..Output::default()
        }
    }
}

fn content(request: &Request, hits: Hits) -> (String, Output) {
    let has_breaks = request.lines.have_context();
    let separators = if has_breaks {
        hits.count.saturating_sub(1)
    } else {
        0
    };
    let total = hits.total + separators;
    let mut lines = Vec::new();
    for hit in hits.files.into_values() {
        if has_breaks && !lines.is_empty() {
            lines.push("--".to_owned());
        }
        lines.extend(hit.lines);
    }
    let shown: Vec<String> = lines
        .into_iter()
        .skip(request.offset)
        .take(request.limit)
        .collect();
    let text = shown.join("\n");
    let cut = Cut::new(request, total);
    let output = Output {
        content: Some(text.clone()),
        num_lines: Some(shown.len()),
        total_lines: Some(total),
        ..cut.output("content")
    };
    let text = if total == 0 {
        "No matches found".to_owned()
    } else {
        text
    };
    let note = cut
        .note()
        .map(|note| format!("\n\n[Part of {total} lines; {note}]"));
    (text + &note.unwrap_or_default(), output)
}

fn files(request: &Request, hits: Hits) -> (String, Output) {
    let mut files: Vec<(PathBuf, Hit)> = hits.files.into_iter().collect();
    files.sort_by_key(|(_, hit)| Reverse(hit.changed));
    let total = files.len();
    let shown: Vec<String> = files
        .iter()
        .skip(request.offset)
        .take(request.limit)
        .map(|(path, _)| place::shown(path, &request.cwd))
        .collect();
    let cut = Cut::new(request, total);
    let mut output = Output {
        num_files: shown.len(),
        total_files: Some(total),
        ..cut.output("files_with_matches")
    };
    if total == 0 {
        return ("No files found".to_owned(), output);
    }
    let note = cut
        .note()
        .map(|note| format!(" ({note})"))
        .unwrap_or_default();
    let word = if shown.len() == 1 { "file" } else { "files" };
    let text = format!("Found {} {word}{note}\n{}", shown.len(), shown.join("\n"));
    output.filenames = shown;
    (text, output)
}

fn count(request: &Request, hits: &Hits) -> (String, Output) {
    let files = hits.files.len();
    let matches: u64 = hits.files.values().map(|hit| hit.matches).sum();
    let shown: Vec<String> = hits
        .files
        .iter()
        .skip(request.offset)
        .take(request.limit)
        .map(|(path, hit)| format!("{}:{}", place::shown(path, &request.cwd), hit.matches))
        .collect();
    let text = shown.join("\n");
    let cut = Cut::new(request, files);
    let output = Output {
        num_files: files,
        content: Some(text.clone()),
        num_matches: Some(matches),
        ..cut.output("count")
    };
    let text = if files == 0 {
        "No matches found".to_owned()
    } else {
        text
    };
    let note = cut
        .note()
        .map(|note| format!(" ({note})"))
        .unwrap_or_default();
    let text = format!("{text}\n\n{matches} matches in {files} files{note}");
    (text, output)
}
