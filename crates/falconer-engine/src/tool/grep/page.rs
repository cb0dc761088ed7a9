//! The part of the hits that is shown.

use std::cmp::Reverse;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::request::{Mode, Request};
use super::search::{Hit, Hits};
use super::{Outcome, place};

pub(super) fn show(request: &Request, hits: Hits, timed_out: bool) -> Outcome {
    let unread = hits.unread;
    let mut outcome = match request.mode {
        Mode::Content => content(request, hits),
        Mode::Files => files(request, hits),
        Mode::Count => count(request, &hits),
    };
    if timed_out
        && let (Value::String(text), Some(output)) = (&mut outcome.content, &mut outcome.output)
    {
        text.push_str("\n\n[The search took too long and was ended; there may be more matches.]");
        output["timedOut"] = json!(true);
    }
    if unread > 0
        && let Value::String(text) = &mut outcome.content
    {
        let note = format!(
            "\n\n[{unread} files could not be searched, for example because a line is too long for \
             this pattern; a simpler one may find more.]"
        );
        text.push_str(&note);
    }
    outcome
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

    fn write_to(&self, output: &mut Value) {
        if let Some(limit) = self.limit {
            output["appliedLimit"] = json!(limit);
        }
        if let Some(offset) = self.offset {
            output["appliedOffset"] = json!(offset);
        }
    }
}

fn content(request: &Request, hits: Hits) -> Outcome {
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
    let mut output = json!({
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": text,
        "numLines": shown.len(),
        "totalLines": total,
    });
    cut.write_to(&mut output);
    let text = if total == 0 {
        "No matches found".to_owned()
    } else {
        text
    };
    let note = cut
        .note()
        .map(|note| format!("\n\n[Part of {total} lines; {note}]"));
    Outcome::text(text + &note.unwrap_or_default(), output)
}

fn files(request: &Request, hits: Hits) -> Outcome {
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
    let mut output = json!({
        "mode": "files_with_matches",
        "filenames": shown,
        "numFiles": shown.len(),
        "totalFiles": total,
    });
    cut.write_to(&mut output);
    if total == 0 {
        return Outcome::text("No files found", output);
    }
    let note = cut
        .note()
        .map(|note| format!(" ({note})"))
        .unwrap_or_default();
    let word = if shown.len() == 1 { "file" } else { "files" };
    let text = format!("Found {} {word}{note}\n{}", shown.len(), shown.join("\n"));
    Outcome::text(text, output)
}

fn count(request: &Request, hits: &Hits) -> Outcome {
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
    let mut output = json!({
        "mode": "count",
        "numFiles": files,
        "filenames": [],
        "content": text,
        "numMatches": matches,
    });
    cut.write_to(&mut output);
    let text = if files == 0 {
        "No matches found".to_owned()
    } else {
        text
    };
    let note = cut
        .note()
        .map(|note| format!(" ({note})"))
        .unwrap_or_default();
    Outcome::text(
        format!("{text}\n\n{matches} matches in {files} files{note}"),
        output,
    )
}
