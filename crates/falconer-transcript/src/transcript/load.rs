//! Reading a transcript back: the conversation as the API wants it, and what the session knew.

use std::path::Path;

use falconer_protocol::MessageUuid;
use serde_json::Value;

use super::conversation::{Conversation, newest, up_to};
use super::cost::CostState;
use super::dropped;
use super::facts::Facts;
use super::messages::{Messages, OpenCall};
use crate::entry::Kind;
use crate::error::SessionError;
use crate::index::{Index, SkippedLines};
use crate::lines::{FileLines, Lines, Span};

/// A session as its transcript tells it.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The conversation; every tool call in it has a result.
    pub messages: Vec<Value>,
    /// The entry that the next one follows.
    pub leaf: Option<MessageUuid>,
    /// The totals so far.
    pub cost: Option<CostState>,
    /// The title that a person gave.
    pub title: Option<String>,
    /// The newest prompt.
    pub last_prompt: Option<String>,
    /// The tools that were used so far.
    pub tools_used: Vec<String>,
    /// The ids of the prompts of this conversation: one that comes again is dropped.
    pub prompts: Vec<MessageUuid>,
    /// What was wrong with the file, in sentences for a person.
    pub warnings: Vec<String>,
    /// Calls that got their result only now.
    pub(super) open_calls: Vec<OpenCall>,
    /// Where the entries of the conversation are, for copies.
    pub(super) spans: Vec<Span>,
}

/// Reads the newest conversation of a transcript.
pub(super) fn load(path: &Path) -> Result<Loaded, SessionError> {
    let mut source = Source::open(path)?;
    let conversation = newest(&mut source.index);
    source.read(&conversation)
}

/// The outcome of a cut.
#[derive(Debug)]
pub(super) enum Cut {
    Made(Box<Loaded>),
    NoSuchMessage,
    /// It would drop more than it may.
    Refused(String),
}

/// Reads the conversation up to a message. With `drops`, only that turn may be after it.
pub(super) fn load_up_to(
    path: &Path,
    message: &MessageUuid,
    drops: Option<&str>,
) -> Result<Cut, SessionError> {
    let mut source = Source::open(path)?;
    let Some(conversation) = up_to(&mut source.index, message.as_str()) else {
        return Ok(Cut::NoSuchMessage);
    };
    if let Some(turn) = drops {
        let dropped = &conversation.dropped;
        let refusal = dropped::refusal(&source.index, &mut source.lines, dropped, turn)?;
        if let Some(why) = refusal {
            return Ok(Cut::Refused(why));
        }
    }
    let loaded = source.read(&conversation)?;
    Ok(Cut::Made(Box::new(loaded)))
}

/// Returns whether a transcript has a conversation to go on with.
pub(super) fn has_conversation(path: &Path) -> bool {
    Source::open(path).is_ok_and(|source| {
        let mut nodes = source.index.nodes.iter();
        nodes.any(|node| node.kind == Kind::User && !node.is_aside())
    })
}

/// A transcript whose entries are known and can be read again.
struct Source {
    lines: FileLines,
    index: Index,
    facts: Facts,
}

impl Source {
    fn open(path: &Path) -> Result<Self, SessionError> {
        let mut lines = FileLines::open(path)?;
        let mut facts = Facts::default();
        let index = Index::with_others(&mut lines, &mut |entry, line| facts.learn(entry, line))?;
        Ok(Self {
            lines,
            index,
            facts,
        })
    }

    fn read(mut self, conversation: &Conversation) -> Result<Loaded, SessionError> {
        let mut messages = Messages::default();
        let mut line = Vec::new();
        let mut spans = Vec::with_capacity(conversation.entries.len());
        for at in &conversation.entries {
            let node = &self.index.nodes[*at];
            spans.push(node.span);
            self.lines.read(node.span, &mut line)?;
            messages.add(node, &line);
        }
        let leaf = conversation
            .leaf
            .map(|at| self.index.nodes[at].uuid.as_str());
        Ok(Loaded {
            leaf: leaf.map(MessageUuid::from),
            warnings: warnings(self.index.skipped, messages.stray_results),
            cost: self.facts.cost,
            title: self.facts.custom_title,
            last_prompt: self.facts.last_prompt,
            tools_used: self.facts.tools_used,
            open_calls: messages.open_calls(),
            prompts: std::mem::take(&mut messages.prompts),
            messages: messages.finish(),
            spans,
        })
    }
}

fn warnings(skipped: SkippedLines, stray_results: u64) -> Vec<String> {
    let found = [
        (skipped.damaged, "that cannot be read"),
        (skipped.too_long, "that are too long"),
    ];
    let lines = found.into_iter().filter(|(count, _)| *count > 0);
    let lines = lines.map(|(count, what)| format!("skipped {count} lines of the session {what}"));
    let stray = (stray_results > 0)
        .then(|| format!("left out {stray_results} tool results that belong to no call"));
    lines.chain(stray).collect()
}
