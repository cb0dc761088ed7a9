//! Makes two runs comparable: what must differ is replaced by what it stands for.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use super::case::Results;
use super::differences::{Difference, INTENDED, What};
use super::frames::{Trace, in_order, kind};
use super::sayings;

/// Numbers that are never the same twice.
const MEASURED: &[&str] = &[
    "pid",
    "elapsed_time_seconds",
    "end_time",
    "start_time",
    "durationMs",
];

/// Texts that are never the same twice.
const NAMED: &[&str] = &[
    "timestamp",
    "claude_code_version",
    "task_id",
    "run_id",
    "output_file",
    "persistedOutputPath",
    "backgroundTaskId",
    "request_id",
    "transcript_path",
    "messaging_socket_path",
    "outputFile",
    "rawOutputPath",
    "buildTime",
    "version",
    "hook_id",
    "runId",
    "prompt_id",
];

static UUID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap()
});

/// New cells of notebooks have invented names.
static CELL: LazyLock<Regex> = LazyLock::new(|| Regex::new("\\b[0-9a-f]{8}\\b").unwrap());

/// Plans have invented names.
static PLAN: LazyLock<Regex> = LazyLock::new(|| Regex::new("/plans/[a-z-]+\\.md").unwrap());

/// The run as lines: one per field, so that a difference shows where it is.
pub(super) fn lines(trace: &Trace, results: Results) -> Vec<String> {
    let mut lines = Vec::new();
    let mut tools = BTreeMap::new();
    for frame in &trace.frames {
        note_calls(frame, &mut tools);
        let kind = kind(frame);
        if is_left_out(&kind) {
            continue;
        }
        lines.push(format!("# {kind}"));
        let mut frame = frame.clone();
        let kind = Kind {
            name: kind,
            is_spoken: is_spoken(&frame),
            data: data_in(&frame, &tools, results),
        };
        blank(&mut frame, &kind, &mut Vec::new());
        write(&frame, &mut String::new(), trace, &mut lines);
    }
    lines.extend(
        trace
            .text
            .iter()
            .map(|line| format!("text: {}", tidy(line, trace))),
    );
    for (name, content) in &trace.left {
        let content = content
            .as_deref()
            .map(|content| tidy(&sorted(content), trace));
        lines.push(format!("file {name}: {content:?}"));
    }
    lines.push(format!("exit: {}", trace.exit));
    let requests = trace.requests.iter();
    lines.extend(requests.map(|request| format!("request: {}", tidy(request, trace))));
    name_ids(&lines)
}

/// Names each id that stands in several places by the order in which it first appears, so that
/// the same id has to be in the same places.
fn name_ids(lines: &[String]) -> Vec<String> {
    let ids = || lines.iter().flat_map(|line| UUID.find_iter(line));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for id in ids() {
        *counts.entry(id.as_str()).or_default() += 1;
    }
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    for id in ids().map(|id| id.as_str()).filter(|id| counts[id] > 1) {
        let next = names.len() + 1;
        names.entry(id).or_insert_with(|| format!("<uuid {next}>"));
    }
    let name = |id: &str| names.get(id).map_or("<uuid>", String::as_str);
    lines
        .iter()
        .map(|line| {
            let line = UUID.replace_all(line, |found: &regex::Captures<'_>| {
                name(&found[0]).to_owned()
            });
            CELL.replace_all(&line, "<cell>").into_owned()
        })
        .collect()
}

/// The order of keys in a file does not matter.
fn sorted(content: &str) -> String {
    let value = serde_json::from_str::<Value>(content);
    let object = value.ok().filter(Value::is_object);
    object.map_or_else(|| content.to_owned(), |it| format!("{:#}", in_order(it)))
}

/// What is known of the frame a field is in.
struct Kind {
    name: String,
    /// The engine speaks in its own name.
    is_spoken: bool,
    /// Which blocks of the message are results whose text is compared.
    data: Vec<String>,
}

/// Tools that tell the model what they found and, unless they fail, nothing in the engine's words.
const TELL_DATA: [&str; 4] = ["Bash", "Read", "Grep", "Glob"];

/// Notes which tool each call is for.
fn note_calls(frame: &Value, tools: &mut BTreeMap<String, String>) {
    for block in blocks(frame) {
        if let (Some("tool_use"), Some(id), Some(name)) = (
            block["type"].as_str(),
            block["id"].as_str(),
            block["name"].as_str(),
        ) {
            tools.insert(id.to_owned(), name.to_owned());
        }
    }
}

fn blocks(frame: &Value) -> &[Value] {
    let content = frame["message"]["content"].as_array();
    content.map_or(&[], Vec::as_slice)
}

/// A command that failed told what it printed.
fn is_exit(block: &Value) -> bool {
    let text = block["content"].as_str().unwrap_or_default();
    text.starts_with("Exit code ")
}

fn data_in(frame: &Value, tools: &BTreeMap<String, String>, results: Results) -> Vec<String> {
    let is_data = |block: &Value| {
        let tool = block["tool_use_id"].as_str().and_then(|id| tools.get(id));
        let tells = tool
            .is_some_and(|tool| TELL_DATA.contains(&tool.as_str()) || tool.starts_with("mcp__"));
        match results {
            Results::All => true,
            Results::Found => tells && (block["is_error"] != true || is_exit(block)),
        }
    };
    let numbered = blocks(frame).iter().enumerate();
    numbered
        .filter(|(_, block)| is_data(block))
        .map(|(index, _)| index.to_string())
        .collect()
}

fn is_spoken(frame: &Value) -> bool {
    frame["message"]["model"] == "<synthetic>"
        || frame["is_error"] == true
        || frame.get("local_command").is_some()
}

fn is_left_out(kind: &str) -> bool {
    let leaves_out =
        |difference: &&Difference| difference.what == What::Frame && difference.frame == kind;
    INTENDED.iter().any(|difference| leaves_out(&difference))
}

/// Replaces what is not compared.
fn blank(value: &mut Value, kind: &Kind, path: &mut Vec<String>) {
    match value {
        Value::Object(fields) => blank_fields(fields, kind, path),
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                path.push(index.to_string());
                blank_one(item, kind, path);
                path.pop();
            }
        }
        _ => {}
    }
}

fn blank_fields(fields: &mut Map<String, Value>, kind: &Kind, path: &mut Vec<String>) {
    let names: Vec<String> = fields.keys().cloned().collect();
    for name in names {
        path.push(name.clone());
        if listed(kind, path, What::Field) {
            fields.remove(&name);
        } else if let Some(value) = fields.get_mut(&name) {
            blank_one(value, kind, path);
        }
        path.pop();
    }
}

fn blank_one(value: &mut Value, kind: &Kind, path: &mut Vec<String>) {
    if is_data(kind, path) {
        return sayings::mean(value);
    }
    let name = path.last().map_or("", String::as_str);
    let measured = (MEASURED.contains(&name) || name.ends_with("_ms")) && value.is_number();
    let named = NAMED.contains(&name) && value.is_string();
    let text = value.is_string() && listed(kind, path, What::Text);
    let spoken = kind.is_spoken && listed(kind, path, What::Spoken);
    if measured || named || text || spoken || listed(kind, path, What::Value) {
        *value = Value::String(format!("<{}>", type_of(value)));
    } else {
        blank(value, kind, path);
    }
}

fn listed(kind: &Kind, path: &[String], what: What) -> bool {
    INTENDED.iter().any(|difference| {
        difference.what == what
            && (difference.frame == "*" || difference.frame == kind.name)
            && fits(difference.path, path)
    })
}

/// What a tool told the model, where that is compared.
fn is_data(kind: &Kind, path: &[String]) -> bool {
    kind.name == "user" && fits("message.content.*.content", path) && kind.data.contains(&path[2])
}

fn fits(pattern: &str, path: &[String]) -> bool {
    let mut pattern = pattern.split('.');
    let mut path = path.iter();
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(wanted), Some(found)) if wanted == found => {}
            _ => return false,
        }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// Writes every leaf with its path; the order of keys does not matter.
fn write(value: &Value, path: &mut String, trace: &Trace, lines: &mut Vec<String>) {
    let length = path.len();
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            for name in names {
                path.push('.');
                path.push_str(&tidy(name, trace));
                write(&fields[name], path, trace, lines);
                path.truncate(length);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!(".{index}"));
                write(item, path, trace, lines);
                path.truncate(length);
            }
        }
        Value::String(text) => lines.push(format!("  {path}: {:?}", tidy(text, trace))),
        // 6 and 6.0 are the same number.
        Value::Number(number) => lines.push(format!("  {path}: {:?}", number.as_f64())),
        other => lines.push(format!("  {path}: {other}")),
    }
}

fn tidy(text: &str, trace: &Trace) -> String {
    let mut text = text.to_owned();
    for (place, name) in &trace.places {
        text = text.replace(place, name);
    }
    PLAN.replace_all(&text, "/plans/<name>.md").into_owned()
}

/// Only what differs, with the frame it belongs to.
pub(super) fn describe(expected: &[String], found: &[String]) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (
        expected.iter().map(String::as_str).collect(),
        found.iter().map(String::as_str).collect(),
    );
    let diff = TextDiff::from_slices(&old, &new);
    let mut text = String::new();
    let mut header = None;
    for change in diff.iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Equal => {
                if change.value().starts_with('#') {
                    header = Some(change.value());
                }
                continue;
            }
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        if let Some(header) = header.take() {
            text.push_str(&format!("{header}\n"));
        }
        text.push_str(&format!("{sign} {}\n", change.value()));
    }
    text
}
