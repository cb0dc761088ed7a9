//! `Grep`: lines by regular expression, with ripgrep's libraries.

mod folder;
mod page;
mod request;
mod search;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use falconer_protocol::Object;
use falconer_protocol::tool::GrepInput;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::failure::Failure;
use super::input::{self, Field, Kind};
use super::interrupt::{self, Interrupt, Stop};
use super::{Call, Describe, Outcome, Target, TypedTool, place};
use crate::workbench::Workbench;
use request::Request;

const LIMIT: Duration = Duration::from_secs(20);
/// How long a search may take to notice that its time is over.
const GRACE: Duration = Duration::from_secs(2);
const TOO_SLOW: &str = "The search took too long and was ended. Use a simpler pattern, or narrow it \
                        by `path`, `glob` or `type`.";

const FIELDS: &[Field] = &[
    Field::required(
        "pattern",
        Kind::Text,
        "Regular expression to look for in files",
    ),
    Field::optional(
        "path",
        Kind::Text,
        "File or directory to search; the working directory unless given",
    ),
    Field::optional(
        "glob",
        Kind::Text,
        "Only files whose path matches, such as `*.js` or `*.{ts,tsx}`; `!` excludes",
    ),
    Field::optional(
        "output_mode",
        Kind::Choice(&["content", "files_with_matches", "count"]),
        "`content`: the lines; `files_with_matches`: the paths (default); `count`: lines per file",
    ),
    Field::optional(
        "-B",
        Kind::Count,
        "Lines to show before each match, in mode `content`",
    ),
    Field::optional(
        "-A",
        Kind::Count,
        "Lines to show after each match, in mode `content`",
    ),
    Field::optional("-C", Kind::Count, "The same as `context`"),
    Field::optional(
        "context",
        Kind::Count,
        "Lines to show before and after each match, in mode `content`",
    ),
    Field::optional(
        "-n",
        Kind::Flag,
        "Show line numbers in mode `content`; true unless given",
    ),
    Field::optional("-i", Kind::Flag, "Do not tell upper case from lower case"),
    Field::optional(
        "-o",
        Kind::Flag,
        "Show only what matched, each match on a line, in mode `content`",
    ),
    Field::optional(
        "type",
        Kind::Text,
        "Only files of this type: rust, py, js, go, java, …",
    ),
    Field::optional(
        "head_limit",
        Kind::Count,
        "Show at most so many lines or files; 250 unless given, 0 for all",
    ),
    Field::optional(
        "offset",
        Kind::Count,
        "Leave out so many lines or files at the beginning",
    ),
    Field::optional(
        "multiline",
        Kind::Flag,
        "Let matches go over several lines, and `.` match the end of a line",
    ),
];

/// Searches files.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Grep;

impl Describe for Grep {
    fn name(&self) -> &str {
        "Grep"
    }

    fn description(&self) -> String {
        "Searches the content of files with a regular expression, in the syntax of ripgrep.\n\n\
         - Prefer this to `grep` and `rg` in a shell: it is as fast, and its output has limits.\n\
         - Narrow the search by `path`, `glob` or `type`. Files ignored by git and binary files \
         are left out.\n\
         - `output_mode` decides what is shown: paths, lines, or counts.\n\
         - Braces and other special characters are escaped with a backslash: `fn main\\(\\) \\{`.\n\
         - A match stays within a line unless `multiline` is set."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        input::schema(FIELDS)
    }

    fn is_read_only(&self) -> bool {
        true
    }
}

impl TypedTool for Grep {
    type Input = GrepInput;

    fn parse(&self, input: &Object) -> Result<GrepInput, String> {
        input::read(FIELDS, input)
    }

    fn target(&self, input: &GrepInput, workbench: &Workbench) -> Target {
        let path = input.path.as_deref().unwrap_or("");
        Target::Read(place::absolute(path, workbench))
    }

    fn run(&self, input: Arc<GrepInput>, call: Call) -> BoxFuture<'_, Outcome> {
        let cancelled = call.cancelled.clone();
        let searching = interrupt::reading(cancelled, move || {
            grep(&input, &call, LIMIT).unwrap_or_else(Outcome::from)
        });
        Box::pin(async move {
            // A thread inside one line notices the end of its time only after it.
            let answer = tokio::time::timeout(LIMIT + GRACE, searching).await;
            answer.unwrap_or_else(|_| Outcome::error(TOO_SLOW))
        })
    }
}

fn grep(input: &GrepInput, call: &Call, limit: Duration) -> Result<Outcome, Failure> {
    let request = Request::new(input, call).map_err(Failure::failed)?;
    let interrupt = Interrupt::new(call.cancelled.clone(), limit);
    let hits = search::search(&request, &interrupt);
    let timed_out = interrupt.stop() == Some(Stop::TimedOut);
    Ok(page::show(&request, hits, timed_out))
}
