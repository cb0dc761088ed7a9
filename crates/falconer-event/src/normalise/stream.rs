//! Texts and thoughts while they are written.

use falconer_protocol::content::ContentBlock;
use falconer_protocol::stream::{Delta, StreamEvent, StreamEventMessage};

use super::Normaliser;
use super::items::block_id;
use crate::body::{Body, Item, ItemContent};
use crate::envelope::Draft;
use crate::id::ItemId;

impl Normaliser {
    /// Only the main conversation streams.
    pub(super) fn stream_event(&mut self, event: &StreamEventMessage, out: &mut Vec<Draft>) {
        let place = |index: u64| place(event, index);
        match &event.event {
            StreamEvent::ContentBlockStart(start) => {
                let content = match &start.content_block {
                    ContentBlock::Text(_) => ItemContent::Message {
                        text: String::new(),
                    },
                    ContentBlock::Thinking(_) => ItemContent::Thought {
                        text: String::new(),
                    },
                    _ => return,
                };
                let item = Item {
                    id: place(start.index),
                    content,
                };
                self.push(None, Body::ItemStarted(Box::new(item)), out);
            }
            StreamEvent::ContentBlockDelta(delta) => {
                let text = match &delta.delta {
                    Delta::Text(text) => &text.text,
                    Delta::Thinking(thinking) => &thinking.thinking,
                    _ => return,
                };
                let id = place(delta.index);
                self.push(
                    None,
                    Body::ItemDelta {
                        id,
                        text: text.clone(),
                    },
                    out,
                );
            }
            _ => {}
        }
    }
}

fn place(event: &StreamEventMessage, index: u64) -> ItemId {
    let message = event.api_message_id.clone().unwrap_or_default();
    block_id(&message, usize::try_from(index).unwrap_or(usize::MAX))
}
