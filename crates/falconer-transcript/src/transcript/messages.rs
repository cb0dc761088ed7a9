//! From the entries of a conversation to the messages of the Messages API.
//!
//! Responses are put together again from their blocks, the results of one response become one
//! message, and every tool call gets an answer, since the API refuses a call without one.

use falconer_protocol::content::{ContentBlock, TextBlock, ToolResultBlock};
use falconer_protocol::{MessageUuid, Object};
use serde::Deserialize;
use serde_json::Value;

use crate::entry::Kind;
use crate::index::Node;
use crate::text::{Text, Truthy};

/// The result of a call whose own was never saved, for the model.
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

/// The fields of an entry that make a message.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SpokenEntry<'a> {
    #[serde(borrow)]
    message: SpokenMessage<'a>,
    #[serde(borrow)]
    attachment: Attachment<'a>,
    is_api_error_message: Truthy,
    is_visible_in_transcript_only: Truthy,
    is_compact_summary: Truthy,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SpokenMessage<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    content: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    source_uuid: Text<'a>,
    prompt: Value,
    content: Value,
}

/// The fields of a block that say what to do with it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct BlockHead<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    signature: Text<'a>,
}

impl<'a> BlockHead<'a> {
    fn of(block: &'a Value) -> Self {
        Self::deserialize(block).unwrap_or_default()
    }

    fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }
}

impl Messages {
    /// Adds the next entry of the conversation, given its line.
    pub(super) fn add(&mut self, node: &Node, line: &[u8]) {
        let Ok(entry) = serde_json::from_slice::<SpokenEntry<'_>>(line) else {
            return;
        };
        match node.kind {
            Kind::Assistant => self.add_block(node, entry),
            Kind::User => self.add_user(node, entry),
            Kind::Attachment => self.add_attachment(entry.attachment),
            Kind::System | Kind::Progress => {}
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
                Turn::User(content) => messages.push(message("user", content)),
                Turn::Assistant(response) => response.finish(&mut messages),
            }
        }
        messages
    }

    fn add_block(&mut self, node: &Node, entry: SpokenEntry<'_>) {
        let is_synthetic = entry.message.model.as_deref() == Some("<synthetic>");
        if is_synthetic || entry.is_api_error_message.0 {
            return;
        }
        let id = entry.message.id.into_string();
        // A relinked parent is the one that counts.
        let parent = node.parent.as_deref().unwrap_or_default();
        let open = match self.turns.pop() {
            Some(Turn::Assistant(open)) if open.continues(id.as_deref(), parent) => Some(open),
            other => {
                self.turns.extend(other);
                None
            }
        };
        let mut response = open.unwrap_or_else(|| Response::new(id));
        let blocks = blocks_of(entry.message.content).into_iter();
        for block in blocks.filter(is_sendable) {
            response.add(block, &node.uuid);
        }
        response.entries.push(node.uuid.clone());
        self.last_response = Some(self.turns.len());
        self.turns.push(Turn::Assistant(response));
    }

    fn add_user(&mut self, node: &Node, entry: SpokenEntry<'_>) {
        if entry.is_visible_in_transcript_only.0 && !entry.is_compact_summary.0 {
            return;
        }
        let content = entry.message.content;
        let is_result = |block: &Value| BlockHead::of(block).is("tool_result");
        let has_results = content
            .as_array()
            .is_some_and(|all| all.iter().any(is_result));
        if !has_results {
            self.prompts.push(MessageUuid::new(&*node.uuid));
            self.say(content);
            return;
        }
        for block in blocks_of(content) {
            if is_result(&block) {
                self.answer(block);
            } else {
                self.say_beside(block);
            }
        }
    }

    fn add_attachment(&mut self, attachment: Attachment<'_>) {
        match attachment.kind.as_deref() {
            Some("queued_command") => {
                let uuid = attachment.source_uuid.into_string().unwrap_or_default();
                self.prompts.push(MessageUuid::new(uuid));
                self.say(attachment.prompt);
            }
            Some("hook_additional_context") => {
                let texts = attachment.content.as_array();
                let texts = texts.into_iter().flatten().filter_map(Value::as_str);
                self.say(texts.collect::<Vec<_>>().join("\n").into());
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
            None => self.say(vec![block].into()),
        }
    }

    fn answer(&mut self, result: Value) {
        let id = BlockHead::of(&result).tool_use_id.into_string();
        let call = self.last_response().and_then(|response| {
            let mut calls = response.calls.iter_mut();
            calls.find(|call| Some(&call.id) == id.as_ref() && call.result.is_none())
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

    /// Returns whether an entry is one more block of this response.
    fn continues(&self, id: Option<&str>, parent: &str) -> bool {
        id.is_some() && self.id.as_deref() == id && self.entries.iter().any(|own| own == parent)
    }

    fn add(&mut self, block: Value, entry: &str) {
        let head = BlockHead::of(&block);
        if head.is("tool_use") {
            let id = head.id.into_string().unwrap_or_default();
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
        messages.push(message("assistant", self.blocks.into()));
        let results = self.calls.into_iter();
        let results = results.map(|call| call.result.unwrap_or_else(|| cut_off(call.id)));
        let content: Vec<Value> = results.chain(self.beside).collect();
        if !content.is_empty() {
            messages.push(message("user", content.into()));
        }
    }
}

/// Returns a message of the API.
pub(super) fn message(role: &str, content: Value) -> Value {
    let fields = [
        ("role".to_owned(), role.into()),
        ("content".to_owned(), content),
    ];
    Value::Object(Object::from_iter(fields))
}

/// Returns the result of a call that never got one.
pub(super) fn cut_off(id: String) -> Value {
    let result = ToolResultBlock {
        is_error: Some(true),
        ..ToolResultBlock::new(id, CUT_OFF)
    };
    serde_json::to_value(ContentBlock::ToolResult(result)).unwrap_or_default()
}

/// Returns whether the API takes a block back: it refuses empty texts and thoughts without
/// signature.
fn is_sendable(block: &Value) -> bool {
    let head = BlockHead::of(block);
    match head.kind.as_deref() {
        Some("text") => head.text.as_deref().is_some_and(|it| !it.trim().is_empty()),
        Some("thinking") => head.signature.non_empty().is_some(),
        Some("tool_use") => {
            head.id.as_deref().is_some() && block.get("input").is_some_and(Value::is_object)
        }
        Some(_) => true,
        None => false,
    }
}

fn blocks_of(content: Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks,
        Value::String(text) => {
            let block = ContentBlock::Text(TextBlock::new(text));
            vec![serde_json::to_value(block).unwrap_or_default()]
        }
        _ => Vec::new(),
    }
}
