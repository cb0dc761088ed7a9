//! What an engine wrote.

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
    /// How often the model was asked.
    pub(super) requests: usize,
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
