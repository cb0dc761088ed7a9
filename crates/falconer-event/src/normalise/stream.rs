//! Texts and thoughts while they are written.

use falconer_protocol::content::ContentBlock;
use falconer_protocol::stream::{Delta, StreamEvent, StreamEventMessage};

use super::items::block_id;
use super::{Normaliser, Writing, WritingKind};
use crate::body::{Body, Item, ItemContent};
use crate::envelope::{Draft, Source};
use crate::id::{ItemId, TurnNumber};

impl Normaliser {
    pub(super) fn stream_event(&mut self, event: &StreamEventMessage, out: &mut Vec<Draft>) {
        if event.parent_tool_use_id.is_none() {
            self.speaks(out);
        }
        match &event.event {
            StreamEvent::ContentBlockStart(start) => {
                let kind = match &start.content_block {
                    ContentBlock::Text(_) => WritingKind::Message,
                    ContentBlock::Thinking(_) => WritingKind::Thought,
                    _ => return,
                };
                self.begin_writing(place(event, start.index), kind, event, out);
            }
            StreamEvent::ContentBlockDelta(delta) => {
                let (kind, text) = match &delta.delta {
                    Delta::Text(text) => (WritingKind::Message, &text.text),
                    Delta::Thinking(thinking) => (WritingKind::Thought, &thinking.thinking),
                    _ => return,
                };
                self.write(place(event, delta.index), kind, text, event, out);
            }
            _ => {}
        }
    }

    fn begin_writing(
        &mut self,
        id: ItemId,
        kind: WritingKind,
        event: &StreamEventMessage,
        out: &mut Vec<Draft>,
    ) {
        if self.writing.contains_key(&id) {
            return;
        }
        let writing = Writing {
            kind,
            text: String::new(),
            length: 0,
            turn: self.turn(),
            parent: event.parent_tool_use_id.clone(),
        };
        let item = Item {
            id: id.clone(),
            content: writing.content(),
        };
        let parent = writing.parent.clone();
        self.writing.insert(id, writing);
        self.push(parent.as_ref(), Body::ItemStarted(Box::new(item)), out);
    }

    /// A delta says where it belongs, so that who missed some can tell.
    fn write(
        &mut self,
        id: ItemId,
        kind: WritingKind,
        text: &str,
        event: &StreamEventMessage,
        out: &mut Vec<Draft>,
    ) {
        if !self.writing.contains_key(&id) {
            self.begin_writing(id.clone(), kind, event, out);
        }
        let Some(writing) = self.writing.get_mut(&id) else {
            return;
        };
        let (offset, parent) = (writing.length, writing.parent.clone());
        writing.text.push_str(text);
        writing.length += text.chars().count() as u64;
        let text = text.to_owned();
        let delta = Body::ItemDelta { id, offset, text };
        self.push(parent.as_ref(), delta, out);
    }

    /// Ends the items of a turn that is over; they stay as far as they came.
    pub(super) fn end_writing(&mut self, turn: Option<TurnNumber>, out: &mut Vec<Draft>) {
        let of_turn = |writing: &Writing| writing.turn == turn && writing.parent.is_none();
        for (id, writing) in self.writing.extract_if(.., |_, writing| of_turn(writing)) {
            if writing.kind == WritingKind::Message
                && !writing.text.is_empty()
                && let Some(open) =
                    (self.open_turns.iter_mut()).find(|open| Some(open.number) == writing.turn)
            {
                open.said.clone_from(&writing.text);
            }
            out.push(cut_off(id, writing));
        }
    }
}

impl Writing {
    fn content(&self) -> ItemContent {
        let text = self.text.clone();
        match self.kind {
            WritingKind::Message => ItemContent::Message { text },
            WritingKind::Thought => ItemContent::Thought { text },
        }
    }
}

fn cut_off(id: ItemId, writing: Writing) -> Draft {
    let content = writing.content();
    Draft {
        turn: writing.turn,
        parent: writing.parent,
        ..Draft::new(
            Source::Falconer,
            Body::ItemCompleted(Box::new(Item { id, content })),
        )
    }
}

fn place(event: &StreamEventMessage, index: u64) -> ItemId {
    let message = event.api_message_id.clone().unwrap_or_default();
    block_id(&message, usize::try_from(index).unwrap_or(usize::MAX))
}
