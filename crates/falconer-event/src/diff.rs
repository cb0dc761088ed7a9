//! Changes that an edit makes, as far as the call or its result tells.

use falconer_protocol::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Diff {
    /// The file.
    pub path: String,
    /// In unified form, without headers; empty if the call does not say.
    pub hunks: String,
}

/// The most lines a diff keeps.
const LONGEST: usize = 2000;

impl Diff {
    /// Returns the change that a call of a file tool is about to make.
    pub(crate) fn of_call(path: &str, input: &Object) -> Self {
        let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
        let removed = text("old_string");
        let added = match (text("new_string"), text("content"), text("new_source")) {
            ("", "", source) => source,
            ("", content, _) => content,
            (new, _, _) => new,
        };
        let lines = signed('-', removed).chain(signed('+', added));
        Self {
            path: path.to_owned(),
            hunks: limited(lines),
        }
    }

    /// Returns the change that the tool reports, if it reports one.
    pub(crate) fn of_result(path: &str, output: &Value) -> Option<Self> {
        let hunks = output["structuredPatch"].as_array()?;
        if hunks.is_empty() {
            return None;
        }
        Some(Self {
            path: path.to_owned(),
            hunks: limited(hunks.iter().flat_map(lines_of_hunk)),
        })
    }
}

fn signed(sign: char, text: &str) -> impl Iterator<Item = String> {
    text.lines().map(move |line| format!("{sign}{line}"))
}

fn lines_of_hunk(hunk: &Value) -> Vec<String> {
    let number = |name: &str| hunk[name].as_u64().unwrap_or(0);
    let header = format!(
        "@@ -{},{} +{},{} @@",
        number("oldStart"),
        number("oldLines"),
        number("newStart"),
        number("newLines")
    );
    let lines = hunk["lines"].as_array().into_iter().flatten();
    let lines = lines.filter_map(Value::as_str).map(str::to_owned);
    std::iter::once(header).chain(lines).collect()
}

fn limited(lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = lines.take(LONGEST).collect();
    lines.join("\n")
}
