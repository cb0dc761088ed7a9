//! Texts and thoughts while they are written.

use falconer_protocol::content::ContentBlock;
use falconer_protocol::stream::{Delta, StreamEvent, StreamEventMessage};

use super::Normaliser;
use super::texts::{WritingKind, block_id};
use crate::body::Body;
use crate::envelope::Draft;
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
                self.begin_writing(&place(event, start.index), kind, event, out);
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
        id: &ItemId,
        kind: WritingKind,
        event: &StreamEventMessage,
        out: &mut Vec<Draft>,
    ) {
        let parent = event.parent_tool_use_id.clone();
        if let Some(item) = self.texts.begin(id, kind, self.turn(), parent.clone()) {
            self.push(parent.as_ref(), Body::ItemStarted(Box::new(item)), out);
        }
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
        self.begin_writing(&id, kind, event, out);
        if let Some((offset, parent)) = self.texts.write(&id, text) {
            let text = text.to_owned();
            let delta = Body::ItemDelta { id, offset, text };
            self.push(parent.as_ref(), delta, out);
        }
    }

    /// Ends the items of a turn that is over; they stay as far as they came.
    pub(super) fn end_writing(&mut self, turn: Option<TurnNumber>, out: &mut Vec<Draft>) {
        let (drafts, said) = self.texts.end_of(turn);
        if let Some(said) = said {
            self.turns.said_in(turn, said);
        }
        out.extend(drafts);
    }
}

fn place(event: &StreamEventMessage, index: u64) -> ItemId {
    let message = event.api_message_id.clone().unwrap_or_default();
    block_id(&message, usize::try_from(index).unwrap_or(usize::MAX))
}
