//! Turns a message of the scripted model into the events of a stream, or into one piece.

use std::time::Duration;

use serde_json::{Value, json};

use super::message::{MessageReply, Part, StreamFault, Usage};
use super::step::{Step, broken};
use super::steps::{Pieces, Steps};

/// A message with everything decided: ids, model, usage.
pub(super) struct Composed<'a> {
    pub(super) reply: &'a MessageReply,
    pub(super) id: String,
    pub(super) model: String,
    /// The ids of the tool calls without one of their own, in order.
    pub(super) tool_use_ids: Vec<String>,
}

impl Composed<'_> {
    /// The steps of a streamed answer.
    pub(super) fn streamed(&self) -> Steps {
        let steps = Stream::new(self).steps();
        match &self.reply.fault {
            Some(fault) => broken(steps.collect(), fault).into_iter().collect(),
            None => steps,
        }
    }

    /// The steps of an answer in one piece.
    pub(super) fn whole(&self) -> Steps {
        let mut steps: Steps = self.first_wait().into_iter().collect();
        steps.extend(self.reply.content.iter().filter_map(pause));
        steps.push(match &self.reply.fault {
            None | Some(StreamFault::Stall { .. }) => Step::Message(self.message()),
            Some(StreamFault::Cut { .. }) => Step::Reset,
            Some(StreamFault::Error { error, .. }) => Step::Error(error.clone()),
            Some(StreamFault::Garbage { text, .. }) => Step::Garbage(text.clone()),
        });
        steps
    }

    fn first_wait(&self) -> Option<Step> {
        let wait = Duration::from_millis(self.reply.delay_ms);
        (!wait.is_zero()).then_some(Step::Wait(wait))
    }

    fn stop_reason(&self) -> &str {
        let calls = |part: &Part| matches!(part, Part::ToolUse { .. });
        match &self.reply.stop_reason {
            Some(reason) => reason,
            None if self.reply.content.iter().any(calls) => "tool_use",
            None => "end_turn",
        }
    }

    fn usage(&self) -> Usage {
        self.reply.usage.unwrap_or_default()
    }

    /// Only replies that say more have the field, as before there was one.
    fn add_details(&self, message: &mut Value) {
        if let Some(details) = &self.reply.stop_details {
            message["stop_details"] = Value::clone(details);
        }
    }

    fn message(&self) -> Value {
        let blocks: Vec<Value> = self.blocks().iter().map(Block::whole).collect();
        let mut message = json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": blocks, "stop_reason": self.stop_reason(), "stop_sequence": null,
            "usage": self.usage(),
        });
        self.add_details(&mut message);
        message
    }

    /// The content with texts around pauses joined.
    fn blocks(&self) -> Vec<Block> {
        let mut ids = self.tool_use_ids.iter();
        let mut blocks: Vec<Block> = Vec::new();
        let mut paused = false;
        for part in &self.reply.content {
            match (part, blocks.last_mut()) {
                (Part::Hold { .. } | Part::Wait { .. }, last) => {
                    paused = true;
                    let pauses = last.map(|block| &mut block.pieces);
                    pauses
                        .into_iter()
                        .for_each(|p| p.extend(pause(part).map(Piece::Pause)));
                    continue;
                }
                (Part::Text { text }, Some(last)) if paused && last.is_text() => {
                    last.pieces.push(Piece::Text(text.clone()));
                }
                (part, _) => blocks.push(Block::new(part, &mut ids)),
            }
            paused = false;
        }
        blocks
    }
}

fn pause(part: &Part) -> Option<Step> {
    match part {
        Part::Hold { name } => Some(Step::Hold(name.clone())),
        Part::Wait { ms } => Some(Step::Wait(Duration::from_millis(*ms))),
        Part::Text { .. } | Part::Thinking { .. } | Part::ToolUse { .. } | Part::Raw { .. } => None,
    }
}

/// A content block and what happens while it is streamed.
struct Block {
    /// As in `content_block_start`.
    opening: Value,
    /// The key of the opening that deltas fill, and the type and key of the deltas.
    fill: Option<[&'static str; 3]>,
    pieces: Vec<Piece>,
    signature: String,
}

enum Piece {
    Text(String),
    Pause(Step),
}

impl Block {
    fn new<'a>(part: &Part, ids: &mut impl Iterator<Item = &'a String>) -> Self {
        let (opening, fill, text) = match part {
            Part::Thinking { thinking, .. } => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                Some(["thinking", "thinking_delta", "thinking"]),
                thinking.clone(),
            ),
            Part::ToolUse { id, name, input } => {
                let id = id.as_ref().or_else(|| ids.next());
                (
                    json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                    Some(["input", "input_json_delta", "partial_json"]),
                    input.to_string(),
                )
            }
            Part::Raw { block } => (block.clone(), None, String::new()),
            Part::Text { text } => (
                json!({"type": "text", "text": ""}),
                Some(["text", "text_delta", "text"]),
                text.clone(),
            ),
            Part::Hold { .. } | Part::Wait { .. } => (Value::Null, None, String::new()),
        };
        let signature = match part {
            Part::Thinking { signature, .. } => signature.clone(),
            _ => String::new(),
        };
        Self {
            opening,
            fill,
            pieces: vec![Piece::Text(text)],
            signature,
        }
    }

    fn is_text(&self) -> bool {
        self.opening["type"] == "text"
    }

    /// The block as it is in a message that is not streamed.
    fn whole(&self) -> Value {
        let mut block = self.opening.clone();
        let Some([key, kind, _]) = self.fill else {
            return block;
        };
        let text: String = self.texts().collect();
        block[key] = match kind {
            "input_json_delta" => serde_json::from_str(&text).unwrap_or(Value::Null),
            _ => Value::String(text),
        };
        if !self.signature.is_empty() {
            block["signature"] = Value::String(self.signature.clone());
        }
        block
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Pause(_) => None,
        })
    }
}

/// Writes the events of one message.
struct Stream<'a> {
    composed: &'a Composed<'a>,
    steps: Steps,
    deltas: usize,
}

impl<'a> Stream<'a> {
    fn new(composed: &'a Composed<'a>) -> Self {
        Self {
            composed,
            steps: composed.first_wait().into_iter().collect(),
            deltas: 0,
        }
    }

    fn steps(mut self) -> Steps {
        let content = &self.composed.reply.content;
        let leading = content.iter().map_while(pause);
        self.steps.extend(leading);
        self.start();
        for (index, block) in self.composed.blocks().into_iter().enumerate() {
            self.block(index, block);
        }
        self.finish();
        self.steps
    }

    fn event(&mut self, event: Value) {
        self.steps.push(Step::Event(event));
    }

    fn start(&mut self) {
        let composed = self.composed;
        let usage = Usage {
            output_tokens: 1,
            ..composed.usage()
        };
        self.event(json!({"type": "message_start", "message": {
            "id": composed.id, "type": "message", "role": "assistant",
            "model": composed.model, "content": [], "stop_reason": null,
            "stop_sequence": null, "usage": usage,
        }}));
        self.event(json!({"type": "ping"}));
    }

    fn block(&mut self, index: usize, block: Block) {
        let opening = block.opening;
        self.event(json!({
            "type": "content_block_start", "index": index, "content_block": opening,
        }));
        for piece in block.pieces {
            match (piece, block.fill) {
                (Piece::Pause(step), _) => self.steps.push(step),
                (Piece::Text(text), Some([_, kind, key])) => self.text(index, text, kind, key),
                (Piece::Text(_), None) => {}
            }
        }
        if !block.signature.is_empty() {
            self.signature(index, &block.signature);
        }
        self.event(json!({"type": "content_block_stop", "index": index}));
    }

    fn text(&mut self, index: usize, text: String, kind: &'static str, key: &'static str) {
        self.steps.push_pieces(Pieces {
            index,
            kind,
            key,
            text,
            chars: self.composed.reply.delta_chars,
            pause: self.pause(),
            pauses: self.deltas > 0,
            sent: 0,
        });
        self.deltas += 1;
    }

    fn signature(&mut self, index: usize, signature: &str) {
        if self.deltas > 0 {
            self.steps.extend(self.pause().map(Step::Wait));
        }
        self.deltas += 1;
        let delta = json!({"type": "signature_delta", "signature": signature});
        self.event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }

    /// Returns the pause between two deltas.
    fn pause(&self) -> Option<Duration> {
        let pause = Duration::from_millis(self.composed.reply.delta_delay_ms);
        (!pause.is_zero()).then_some(pause)
    }

    fn finish(&mut self) {
        let reason = self.composed.stop_reason();
        let mut delta = json!({"stop_reason": reason, "stop_sequence": null});
        self.composed.add_details(&mut delta);
        self.event(json!({
            "type": "message_delta",
            "delta": delta,
            "usage": self.composed.usage(),
        }));
        self.event(json!({"type": "message_stop"}));
    }
}
