//! Puts the events of a stream together: content blocks one by one, stop reason, usage.
//!
//! Nothing is lost: a block is what the API sent, with the deltas filled in, whatever its type.

use std::collections::BTreeMap;

use falconer_protocol::Object;
use falconer_protocol::stream::{ContentBlockDelta, ContentBlockStart, Delta, StreamEvent};
#[cfg(test)]
use falconer_protocol::usage::Usage;
use serde_json::{Value, json};

use crate::{ApiEvent, ApiFailure};

/// How much text the blocks of one message may hold.
const MESSAGE_LIMIT: usize = 64 << 20;

/// How many blocks may be open at once. The API opens one.
const OPEN_LIMIT: usize = 64;

/// A content block that is complete.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedBlock {
    pub index: u64,
    /// The block as it goes back to the API.
    pub block: Value,
    /// The JSON of a tool's input was no JSON; `block["input"]` is then an empty object.
    pub malformed_input: Option<MalformedInput>,
}

/// The input of a tool call that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the input of the tool call is not valid JSON: {error}")]
pub struct MalformedInput {
    /// What the model wrote.
    pub text: String,
    pub error: String,
}

/// Puts one message together. One for each answer.
#[derive(Debug, Default)]
pub struct Assembler {
    /// The message of `message_start` without its content, with what came later filled in.
    message: Object,
    open: BTreeMap<u64, OpenBlock>,
    size: usize,
    complete: bool,
}

#[derive(Debug)]
struct OpenBlock {
    block: Value,
    /// Pieces of a tool's input.
    json: String,
}

impl Assembler {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event; gives the block that it completes, if it does.
    ///
    /// Events that do not belong (a delta without a block) are left out. Fails only if the
    /// message grows beyond all bounds.
    pub fn push(&mut self, event: &ApiEvent) -> Result<Option<FinishedBlock>, ApiFailure> {
        self.size += event.raw.get().len();
        if self.size > MESSAGE_LIMIT || self.open.len() > OPEN_LIMIT {
            let text = format!("the answer is larger than {MESSAGE_LIMIT} bytes");
            return Err(ApiFailure::malformed(text));
        }
        match &event.event {
            StreamEvent::MessageStart(_) => self.start(event),
            StreamEvent::ContentBlockStart(start) => self.open(start),
            StreamEvent::ContentBlockDelta(delta) => self.extend(delta),
            StreamEvent::ContentBlockStop(stop) => return Ok(self.close(stop.index)),
            StreamEvent::MessageDelta(_) => self.amend(event),
            StreamEvent::MessageStop(_) => self.complete = true,
            _ => {}
        }
        Ok(None)
    }

    /// Whether `message_stop` has come.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The message without its content: `id`, `model`, `role`, `stop_reason`, `usage`, …
    pub fn message(&self) -> &Object {
        &self.message
    }

    /// The message without its content, given away.
    pub fn into_message(self) -> Object {
        self.message
    }

    pub fn id(&self) -> Option<&str> {
        self.message.get("id")?.as_str()
    }

    #[cfg(test)]
    pub fn model(&self) -> Option<&str> {
        self.message.get("model")?.as_str()
    }

    #[cfg(test)]
    pub fn stop_reason(&self) -> Option<&str> {
        self.message.get("stop_reason")?.as_str()
    }

    #[cfg(test)]
    /// What has been used so far.
    pub fn usage(&self) -> Usage {
        let usage = self.message.get("usage").cloned();
        usage
            .and_then(|usage| falconer_protocol::from_value(usage).ok())
            .unwrap_or_default()
    }

    /// The indexes of blocks that have begun and not ended.
    pub fn open_blocks(&self) -> impl Iterator<Item = u64> {
        self.open.keys().copied()
    }

    fn start(&mut self, event: &ApiEvent) {
        if let Some(Value::Object(mut message)) = take(event, "message") {
            message.shift_remove("content");
            self.message = message;
        }
    }

    fn open(&mut self, start: &ContentBlockStart) {
        // Our types keep what they do not know, so nothing is lost on this way.
        let block = serde_json::to_value(&start.content_block).unwrap_or(Value::Null);
        let json = String::new();
        self.open.insert(start.index, OpenBlock { block, json });
    }

    fn extend(&mut self, event: &ContentBlockDelta) {
        match self.open.get_mut(&event.index) {
            Some(open) => open.add(&event.delta),
            None => tracing::debug!(index = event.index, "a delta without a block"),
        }
    }

    fn close(&mut self, index: u64) -> Option<FinishedBlock> {
        let open = self.open.remove(&index)?;
        Some(open.finish(index))
    }

    /// `message_delta`: every field of its delta and of its usage replaces the earlier one.
    fn amend(&mut self, event: &ApiEvent) {
        let Ok(Value::Object(fields)) = serde_json::from_str(event.raw.get()) else {
            return;
        };
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("type", _) => {}
                ("delta", Value::Object(delta)) => self.message.extend(delta),
                ("usage", Value::Object(usage)) => self.amend_usage(usage),
                (_, value) => {
                    self.message.insert(name, value);
                }
            }
        }
    }

    fn amend_usage(&mut self, later: Object) {
        let usage = self.message.entry("usage").or_insert_with(|| json!({}));
        match usage {
            // Null says nothing: an earlier number stays.
            Value::Object(usage) => {
                usage.extend(later.into_iter().filter(|(_, value)| !value.is_null()));
            }
            other => *other = Value::Object(later),
        }
    }
}

/// A field of the event as it came.
fn take(event: &ApiEvent, field: &str) -> Option<Value> {
    match serde_json::from_str(event.raw.get()) {
        Ok(Value::Object(mut object)) => object.shift_remove(field),
        _ => None,
    }
}

impl OpenBlock {
    fn add(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(delta) => self.append("text", &delta.text),
            Delta::Thinking(delta) => self.append("thinking", &delta.thinking),
            Delta::InputJson(delta) => self.json.push_str(&delta.partial_json),
            Delta::Signature(delta) => self.set("signature", delta.signature.clone().into()),
            Delta::Citations(delta) => self.cite(serde_json::to_value(&delta.citation)),
            Delta::Compaction(delta) => {
                if let Some(content) = &delta.content {
                    self.append("content", content);
                }
            }
            Delta::Unknown(fields) => self.add_unknown(fields),
            // The enum is open: a delta this version of the types knows and we do not.
            other => match serde_json::to_value(other) {
                Ok(Value::Object(fields)) => self.add_unknown(&fields),
                _ => tracing::debug!("a delta that cannot be read"),
            },
        }
    }

    /// A delta of a kind we do not know: texts are appended, lists extended, the rest replaced,
    /// as in all kinds that we know.
    fn add_unknown(&mut self, fields: &Object) {
        for (name, value) in fields {
            match value {
                _ if name == "type" => {}
                Value::String(text) => self.append(name, text),
                other => self.set(name, other.clone()),
            }
        }
    }

    fn append(&mut self, field: &str, text: &str) {
        let Value::Object(block) = &mut self.block else {
            return;
        };
        match block.get_mut(field) {
            Some(Value::String(known)) => known.push_str(text),
            _ => {
                block.insert(field.to_owned(), Value::String(text.to_owned()));
            }
        }
    }

    fn set(&mut self, field: &str, value: Value) {
        if let Value::Object(block) = &mut self.block {
            block.insert(field.to_owned(), value);
        }
    }

    fn cite(&mut self, citation: serde_json::Result<Value>) {
        let (Value::Object(block), Ok(citation)) = (&mut self.block, citation) else {
            return;
        };
        match block.get_mut("citations") {
            Some(Value::Array(citations)) => citations.push(citation),
            _ => {
                block.insert("citations".to_owned(), json!([citation]));
            }
        }
    }

    fn finish(mut self, index: u64) -> FinishedBlock {
        let malformed_input = match self.json.trim() {
            "" => None,
            json => match serde_json::from_str::<Value>(json) {
                Ok(input) => {
                    self.set("input", input);
                    None
                }
                Err(error) => {
                    let error = error.to_string();
                    let text = std::mem::take(&mut self.json);
                    self.set("input", json!({}));
                    Some(MalformedInput { text, error })
                }
            },
        };
        FinishedBlock {
            index,
            block: self.block,
            malformed_input,
        }
    }
}

#[cfg(test)]
mod tests;
