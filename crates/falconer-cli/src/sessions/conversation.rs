//! A session as people read it: who said what, what was called, what came back.

use falconer::sessions::{MessageKind, SessionMessage};
use serde_json::Value;

/// One piece of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    User(String),
    Agent(String),
    Call { tool: String, input: String },
    Result { text: String, failed: bool },
}

impl Part {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::User(text) | Self::Agent(text) => text,
            Self::Call { input, .. } => input,
            Self::Result { text, .. } => text,
        }
    }
}

/// Adds what a message says.
pub(super) fn read(message: &SessionMessage, parts: &mut Vec<Part>) {
    let Some(body) = &message.message else { return };
    let Ok(body) = serde_json::from_str::<Value>(body.get()) else {
        return;
    };
    match &body["content"] {
        Value::String(text) => said(message.kind, text, parts),
        Value::Array(blocks) => blocks
            .iter()
            .for_each(|block| of_block(message.kind, block, parts)),
        _ => {}
    }
}

fn said(kind: MessageKind, text: &str, parts: &mut Vec<Part>) {
    if text.trim().is_empty() {
        return;
    }
    parts.push(match kind {
        MessageKind::User => Part::User(text.to_owned()),
        _ => Part::Agent(text.to_owned()),
    });
}

fn of_block(kind: MessageKind, block: &Value, parts: &mut Vec<Part>) {
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    match text("type") {
        "text" => said(kind, text("text"), parts),
        "tool_use" => {
            let input = match (&block["input"]["command"], &block["input"]["file_path"]) {
                (Value::String(command), _) => command.clone(),
                (_, Value::String(path)) => path.clone(),
                _ => block["input"].to_string(),
            };
            parts.push(Part::Call {
                tool: text("name").to_owned(),
                input,
            });
        }
        "tool_result" => parts.push(Part::Result {
            text: result_text(&block["content"]),
            failed: block["is_error"].as_bool().unwrap_or(false),
        }),
        "image" | "document" => said(kind, &format!("[{}]", text("type")), parts),
        _ => {}
    }
}

fn result_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
