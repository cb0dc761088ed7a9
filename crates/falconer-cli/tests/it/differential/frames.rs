//! What an engine wrote.

use std::collections::BTreeMap;

use serde_json::Value;

/// One run of one engine.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) frames: Vec<Value>,
    /// Lines that are no JSON, for the formats that print text.
    pub(super) text: Vec<String>,
    /// The exit code, or the negative number of the signal.
    pub(super) exit: i32,
    pub(super) stderr: String,
    /// What the model was asked, as far as it must be the same: the calls of tools and their
    /// results so far, a line for each request.
    pub(super) requests: Vec<String>,
    /// Files that are compared: their name and what is in them.
    pub(super) left: Vec<(String, Option<String>)>,
    /// The directory of the run, and the home.
    pub(super) places: Vec<(String, &'static str)>,
}

/// `type`, or `type/subtype` for the types that have many.
pub(super) fn kind(frame: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let kind = text(&frame["type"]);
    match kind.as_str() {
        "system" => format!("system/{}", text(&frame["subtype"])),
        "control_request" => format!("control_request/{}", text(&frame["request"]["subtype"])),
        _ => kind,
    }
}

/// The order of keys does not matter.
pub(super) fn in_order(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, it)| (name, in_order(it)));
            let fields: BTreeMap<String, Value> = fields.collect();
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(in_order).collect(),
        other => other,
    }
}

/// The calls and results in a request to the model. Words around them are the engine's own.
pub(super) fn calls(request: &Value) -> String {
    let messages = request["messages"].as_array().into_iter().flatten();
    let blocks = messages.flat_map(|message| message["content"].as_array().into_iter().flatten());
    let calls = blocks.filter_map(|block| match block["type"].as_str()? {
        "tool_use" => Some(format!(
            "{}: {} {}",
            block["id"],
            block["name"],
            in_order(block["input"].clone())
        )),
        "tool_result" => {
            let failed = block["is_error"] == true;
            Some(format!("{}: failed {failed}", block["tool_use_id"]))
        }
        _ => None,
    });
    calls.collect::<Vec<_>>().join("; ")
}
