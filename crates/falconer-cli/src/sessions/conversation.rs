//! A session as people read it: who said what, what was called, what came back.

use falconer::sessions::{MessageKind, SessionMessage};
use falconer_event::{Action, ActionStatus, Body, Event, ItemContent, PromptState};
use serde_json::Value;

use crate::here;

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
    let Ok(mut body) = serde_json::from_str::<Value>(body.get()) else {
        return;
    };
    // The files of the official CLI hold what was said, secrets included.
    here::redactor().value(&mut body);
    match &body["content"] {
        Value::String(text) => said(message.kind, text, parts),
        Value::Array(blocks) => blocks
            .iter()
            .for_each(|block| of_block(message.kind, block, parts)),
        _ => {}
    }
}

/// Adds what an event of the store says. What sub-agents do among themselves is left out, as in
/// the engine's file.
pub(super) fn read_event(event: &Event, parts: &mut Vec<Part>) {
    let Body::ItemCompleted(item) = &event.body else {
        return;
    };
    match &item.content {
        ItemContent::Prompt(prompt) if prompt.state != PromptState::Cancelled => {
            said(MessageKind::User, &prompt.text, parts);
        }
        ItemContent::Message { text } if event.parent.is_none() => {
            said(MessageKind::Assistant, text, parts);
        }
        ItemContent::Action(action) if event.parent.is_none() => of_action(action, parts),
        _ => {}
    }
}

fn of_action(action: &Action, parts: &mut Vec<Part>) {
    parts.push(Part::Call {
        tool: action.tool.clone(),
        input: input_text(&action.input),
    });
    if let Some(result) = &action.result {
        let cut = if result.truncated {
            format!("\n[… {} characters in all]", result.length)
        } else {
            String::new()
        };
        parts.push(Part::Result {
            text: format!("{}{cut}", result.text),
            failed: action.status != ActionStatus::Ok,
        });
    }
}

/// What a call is about: the command or the file, else all of its input.
fn input_text(input: &Value) -> String {
    match (&input["command"], &input["file_path"]) {
        (Value::String(command), _) => command.clone(),
        (_, Value::String(path)) => path.clone(),
        _ => input.to_string(),
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
            parts.push(Part::Call {
                tool: text("name").to_owned(),
                input: input_text(&block["input"]),
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
