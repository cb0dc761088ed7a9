//! From the entries of a conversation to the messages of the Messages API.
//!
//! Responses are put together again from their blocks, the results of one response become one
//! message, and every tool call gets an answer, since the API refuses a call without one.

use falconer_protocol::MessageUuid;
use serde_json::{Value, json};

/// What the model is told of a call whose result was never saved.
pub(super) const CUT_OFF: &str = "This tool call was cut off: the session ended before its \
    result was saved. It may have taken effect or not; look at the current state before you \
    repeat it.";

/// The messages of a conversation.
#[derive(Debug, Default)]
pub(super) struct Messages {
    turns: Vec<Turn>,
    /// The turn that results belong to.
    last_response: Option<usize>,
    /// Results without a call.
    pub(super) stray_results: u64,
    /// The ids of the prompts, in order.
    pub(super) prompts: Vec<MessageUuid>,
}

/// A tool call at the end of the conversation that nothing answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenCall {
    pub(super) id: String,
    /// The entry of the call.
    pub(super) entry: MessageUuid,
}

#[derive(Debug)]
enum Turn {
    User(Value),
    Assistant(Response),
}

/// A response and what its calls came to.
#[derive(Debug)]
struct Response {
    id: Option<String>,
    /// The entries it was put together from.
    entries: Vec<String>,
    blocks: Vec<Value>,
    calls: Vec<Call>,
    /// What was said in the same messages as results.
    beside: Vec<Value>,
}

#[derive(Debug)]
struct Call {
    id: String,
    entry: String,
    result: Option<Value>,
}

impl Messages {
    /// Adds the next entry of the conversation.
    pub(super) fn add(&mut self, mut entry: Value) {
        match entry["type"].as_str() {
            Some("assistant") => self.add_block(&mut entry),
            Some("user") => self.add_user(&mut entry),
            Some("attachment") => self.add_attachment(&mut entry),
            _ => {}
        }
    }

    /// The calls that nothing answers and after which nothing was said.
    pub(super) fn open_calls(&self) -> Vec<OpenCall> {
        let Some(Turn::Assistant(response)) = self.turns.last() else {
            return Vec::new();
        };
        let open = response.calls.iter().filter(|call| call.result.is_none());
        let open = open.map(|call| OpenCall {
            id: call.id.clone(),
            entry: MessageUuid::new(&*call.entry),
        });
        open.collect()
    }

    /// All messages, with an answer for every call.
    pub(super) fn finish(self) -> Vec<Value> {
        let mut messages = Vec::new();
        for turn in self.turns {
            match turn {
                Turn::User(content) => {
                    messages.push(json!({ "role": "user", "content": content }));
                }
                Turn::Assistant(response) => response.finish(&mut messages),
            }
        }
        messages
    }

    fn add_block(&mut self, entry: &mut Value) {
        let synthetic = entry["message"]["model"] == "<synthetic>";
        if synthetic || entry["isApiErrorMessage"] == true {
            return;
        }
        let uuid = text(&entry["uuid"]);
        let blocks = blocks_of(take(entry, "/message/content"));
        let id = entry["message"]["id"].as_str().map(str::to_owned);
        let parent = entry["parentUuid"].as_str().unwrap_or_default();
        let open = match self.turns.pop() {
            Some(Turn::Assistant(open)) if open.continues(id.as_deref(), parent) => Some(open),
            other => {
                self.turns.extend(other);
                None
            }
        };
        let mut response = open.unwrap_or_else(|| Response::new(id));
        for block in blocks.into_iter().filter(is_sendable) {
            response.add(block, &uuid);
        }
        response.entries.push(uuid);
        self.last_response = Some(self.turns.len());
        self.turns.push(Turn::Assistant(response));
    }

    fn add_user(&mut self, entry: &mut Value) {
        let only_shown = entry["isVisibleInTranscriptOnly"] == true;
        if only_shown && entry["isCompactSummary"] != true {
            return;
        }
        let content = take(entry, "/message/content");
        let is_result = |block: &Value| block["type"] == "tool_result";
        let has_results = content
            .as_array()
            .is_some_and(|all| all.iter().any(is_result));
        if !has_results {
            self.prompts.push(MessageUuid::new(text(&entry["uuid"])));
            self.say(content);
            return;
        }
        for block in blocks_of(content) {
            match is_result(&block) {
                true => self.answer(block),
                false => self.say_beside(block),
            }
        }
    }

    fn add_attachment(&mut self, entry: &mut Value) {
        match entry["attachment"]["type"].as_str() {
            Some("queued_command") => {
                let uuid = text(&entry["attachment"]["source_uuid"]);
                self.prompts.push(MessageUuid::new(uuid));
                self.say(take(entry, "/attachment/prompt"));
            }
            Some("hook_additional_context") => {
                let texts = entry["attachment"]["content"].as_array();
                let texts = texts.into_iter().flatten().filter_map(Value::as_str);
                self.say(json!(texts.collect::<Vec<_>>().join("\n")));
            }
            // The rest describes the run it was made in; every run makes its own.
            _ => {}
        }
    }

    fn say(&mut self, content: Value) {
        let empty = match &content {
            Value::String(text) => text.is_empty(),
            Value::Array(blocks) => blocks.is_empty(),
            _ => true,
        };
        if !empty {
            self.turns.push(Turn::User(content));
        }
    }

    /// What stands beside a result stays beside the results.
    fn say_beside(&mut self, block: Value) {
        match self.last_response() {
            Some(response) => response.beside.push(block),
            None => self.say(json!([block])),
        }
    }

    fn answer(&mut self, result: Value) {
        let id = text(&result["tool_use_id"]);
        let call = self.last_response().and_then(|response| {
            let mut calls = response.calls.iter_mut();
            calls.find(|call| call.id == id && call.result.is_none())
        });
        match call {
            Some(call) => call.result = Some(result),
            None => self.stray_results += 1,
        }
    }

    fn last_response(&mut self) -> Option<&mut Response> {
        match self.turns.get_mut(self.last_response?) {
            Some(Turn::Assistant(response)) => Some(response),
            Some(Turn::User(_)) | None => None,
        }
    }
}

impl Response {
    fn new(id: Option<String>) -> Self {
        Self {
            id,
            entries: Vec::new(),
            blocks: Vec::new(),
            calls: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// Whether an entry is one more block of this response.
    fn continues(&self, id: Option<&str>, parent: &str) -> bool {
        id.is_some() && self.id.as_deref() == id && self.entries.iter().any(|own| own == parent)
    }

    fn add(&mut self, block: Value, entry: &str) {
        if block["type"] == "tool_use" {
            let id = text(&block["id"]);
            if self.calls.iter().any(|call| call.id == id) {
                return;
            }
            self.calls.push(Call {
                id,
                entry: entry.to_owned(),
                result: None,
            });
        }
        self.blocks.push(block);
    }

    fn finish(self, messages: &mut Vec<Value>) {
        if self.blocks.is_empty() {
            return;
        }
        messages.push(json!({ "role": "assistant", "content": self.blocks }));
        let cut_off = |id: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": CUT_OFF, "is_error": true });
        let results = self.calls.into_iter();
        let results = results.map(|call| call.result.unwrap_or_else(|| cut_off(&call.id)));
        let content: Vec<Value> = results.chain(self.beside).collect();
        if !content.is_empty() {
            messages.push(json!({ "role": "user", "content": content }));
        }
    }
}

/// Whether the API takes a block back: it refuses empty texts and thoughts without signature.
fn is_sendable(block: &Value) -> bool {
    match block["type"].as_str() {
        Some("text") => block["text"]
            .as_str()
            .is_some_and(|text| !text.trim().is_empty()),
        Some("thinking") => block["signature"]
            .as_str()
            .is_some_and(|text| !text.is_empty()),
        Some("tool_use") => block["id"].is_string() && block["input"].is_object(),
        Some(_) => true,
        None => false,
    }
}

fn blocks_of(content: Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks,
        Value::String(text) => vec![json!({ "type": "text", "text": text })],
        _ => Vec::new(),
    }
}

/// Takes a value out of an entry. Indexing for change would panic on an unexpected shape.
fn take(entry: &mut Value, pointer: &str) -> Value {
    entry
        .pointer_mut(pointer)
        .map(Value::take)
        .unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
