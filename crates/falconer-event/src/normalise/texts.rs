//! Texts and thoughts while they are written, and the ids of blocks.

use std::collections::BTreeMap;

use falconer_protocol::ToolUseId;

use super::recent::Blocks;
use crate::body::{Body, Item, ItemContent};
use crate::envelope::{Draft, Source};
use crate::id::{ItemId, TurnNumber};

/// The texts and thoughts of a run.
#[derive(Debug, Default)]
pub(super) struct Texts {
    writing: BTreeMap<ItemId, Writing>,
    blocks: Blocks,
}

/// A text or a thought that is being streamed.
#[derive(Debug)]
pub(super) struct Writing {
    kind: WritingKind,
    text: String,
    /// Characters of the text.
    length: u64,
    turn: Option<TurnNumber>,
    parent: Option<ToolUseId>,
}

/// What is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WritingKind {
    Message,
    Thought,
}

impl Texts {
    /// Returns the id of the next block of an API message: the message and the place in it.
    pub(super) fn next_id(&mut self, message: &str) -> ItemId {
        let index = self.blocks.next(message);
        block_id(message, index)
    }

    /// A text is complete.
    pub(super) fn complete(&mut self, id: &ItemId) {
        self.writing.remove(id);
    }

    /// Begins a text; returns its item unless it was begun before.
    pub(super) fn begin(
        &mut self,
        id: &ItemId,
        kind: WritingKind,
        turn: Option<TurnNumber>,
        parent: Option<ToolUseId>,
    ) -> Option<Item> {
        if self.writing.contains_key(id) {
            return None;
        }
        let writing = Writing {
            kind,
            text: String::new(),
            length: 0,
            turn,
            parent,
        };
        let (id, content) = (id.clone(), writing.content());
        self.writing.insert(id.clone(), writing);
        Some(Item { id, content })
    }

    /// Adds a piece; returns where in the text it belongs, and whose text it is.
    pub(super) fn write(&mut self, id: &ItemId, piece: &str) -> Option<(u64, Option<ToolUseId>)> {
        let writing = self.writing.get_mut(id)?;
        let offset = writing.length;
        writing.text.push_str(piece);
        writing.length += piece.chars().count() as u64;
        Some((offset, writing.parent.clone()))
    }

    /// Cuts off what was begun in a turn that is over; it stays as far as it came. Also returns
    /// the last message among it.
    pub(super) fn end_of(&mut self, turn: Option<TurnNumber>) -> (Vec<Draft>, Option<String>) {
        let of_turn = |writing: &Writing| writing.turn == turn && writing.parent.is_none();
        let (mut drafts, mut said) = (Vec::new(), None);
        for (id, writing) in self.writing.extract_if(.., |_, writing| of_turn(writing)) {
            if writing.kind == WritingKind::Message && !writing.text.is_empty() {
                said = Some(writing.text.clone());
            }
            drafts.push(cut_off(id, writing));
        }
        (drafts, said)
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

/// The id of a block of an API message.
pub(super) fn block_id(message: &str, index: usize) -> ItemId {
    format!("{message}.{index}").into()
}
