//! Reading a transcript back: the conversation as the API wants it, and what the session knew.

use std::fs::File;
use std::io;
use std::path::Path;

use falconer_protocol::{MessageUuid, Object};
use serde_json::Value;

use super::conversation::{Conversation, newest, up_to};
use super::cost::CostState;
use super::dropped;
use super::index::{Index, Kind};
use super::lines::Span;
use super::messages::{Messages, OpenCall};

/// A session as its transcript tells it.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The conversation; every tool call in it has a result.
    pub messages: Vec<Value>,
    /// The entry that the next one follows.
    pub leaf: Option<MessageUuid>,
    pub cost: Option<CostState>,
    /// The title that a person gave.
    pub title: Option<String>,
    #[cfg(test)]
    pub last_prompt: Option<String>,
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
pub(super) fn load(path: &Path) -> io::Result<Loaded> {
    let file = File::open(path)?;
    let mut index = Index::of(&file)?;
    let conversation = newest(&mut index);
    read(&file, index, &conversation)
}

/// What came of a cut.
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
) -> io::Result<Cut> {
    let file = File::open(path)?;
    let mut index = Index::of(&file)?;
    let Some(conversation) = up_to(&mut index, message.as_str()) else {
        return Ok(Cut::NoSuchMessage);
    };
    let checked = drops.map(|turn| dropped::check(&index, &conversation.dropped, turn));
    if let Some(Err(why)) = checked {
        return Ok(Cut::Refused(why));
    }
    let loaded = read(&file, index, &conversation)?;
    Ok(Cut::Made(Box::new(loaded)))
}

/// Whether a transcript has a conversation to go on with.
pub(super) fn has_conversation(path: &Path) -> bool {
    let index = File::open(path).and_then(|file| Index::of(&file));
    let speaks = |index: Index| {
        let mut nodes = index.nodes.iter();
        nodes.any(|node| node.kind == Kind::User && !node.aside)
    };
    index.is_ok_and(speaks)
}

fn read(file: &File, index: Index, conversation: &Conversation) -> io::Result<Loaded> {
    let mut messages = Messages::default();
    let mut line = Vec::new();
    let mut spans = Vec::with_capacity(conversation.entries.len());
    for at in &conversation.entries {
        let node = &index.nodes[*at];
        spans.push(node.span);
        node.span.read(file, &mut line)?;
        // The index has read it as JSON; a relinked parent is the one that counts.
        if let Ok(mut entry) = serde_json::from_slice::<Object>(&line) {
            entry.insert("parentUuid".to_owned(), node.parent.as_deref().into());
            messages.add(Value::Object(entry));
        }
    }
    let leaf = conversation.leaf.map(|at| index.nodes[at].uuid.as_str());
    Ok(Loaded {
        leaf: leaf.map(MessageUuid::from),
        warnings: warnings(&index, messages.stray_results),
        cost: index.facts.cost,
        title: index.facts.custom_title,
        #[cfg(test)]
        last_prompt: index.facts.last_prompt,
        tools_used: index.facts.tools_used,
        open_calls: messages.open_calls(),
        prompts: std::mem::take(&mut messages.prompts),
        messages: messages.finish(),
        spans,
    })
}

fn warnings(index: &Index, stray_results: u64) -> Vec<String> {
    let found = [
        (index.damaged, "that cannot be read"),
        (index.too_long, "that are too long"),
    ];
    let lines = found.into_iter().filter(|(count, _)| *count > 0);
    let lines = lines.map(|(count, what)| format!("skipped {count} lines of the session {what}"));
    let stray = (stray_results > 0)
        .then(|| format!("left out {stray_results} tool results that belong to no call"));
    lines.chain(stray).collect()
}
