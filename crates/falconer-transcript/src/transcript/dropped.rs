//! The check that a cut in a conversation drops one turn only (`--resume-drops-turn`).

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::entry::Kind;
use crate::error::SessionError;
use crate::index::{Index, Node};
use crate::lines::Lines;
use crate::text::{Text, Truthy};

/// The beginning of a note that the engine writes when the user interrupts.
const INTERRUPTED: &str = "[Request interrupted by user";

/// Returns why a cut is refused, if it is: it would drop more than the caller knows of.
pub(super) fn refusal(
    index: &Index,
    lines: &mut dyn Lines,
    dropped: &[usize],
    turn: &str,
) -> Result<Option<String>, SessionError> {
    if uuid::Uuid::try_parse(turn).is_err() {
        return Ok(Some(format!("the declared turn is not a UUID: {turn}")));
    }
    let mut line = Vec::new();
    let mut is_first = true;
    for node in dropped.iter().map(|at| &index.nodes[*at]) {
        lines.read(node.span, &mut line)?;
        if !counts(node, &line) {
            continue;
        }
        if is_first && node.uuid != turn {
            return Ok(Some(format!(
                "what would be dropped does not begin with the turn {turn}, but with {}",
                node.uuid
            )));
        }
        if !is_first && speaks_anew(node) {
            return Ok(Some(format!(
                "more than the turn {turn} would be dropped: {} does not belong to it",
                node.uuid
            )));
        }
        is_first = false;
    }
    Ok(None)
}

/// Notes of the engine at the end of a turn, and failed calls, are nobody's loss.
fn counts(node: &Node, line: &[u8]) -> bool {
    let entry = || serde_json::from_slice::<DroppedEntry<'_>>(line).unwrap_or_default();
    match node.kind {
        Kind::Assistant => true,
        Kind::User => {
            let content = entry().content();
            !node.meta && !content.is_interruption() && !content.is_failed_result()
        }
        Kind::Attachment => entry().attachment.kind.as_deref() == Some("queued_command"),
        Kind::System | Kind::Progress => false,
    }
}

/// Returns whether somebody but the model speaks.
fn speaks_anew(node: &Node) -> bool {
    match node.kind {
        Kind::User => !node.is_answer(),
        Kind::Attachment => true,
        Kind::Assistant | Kind::System | Kind::Progress => false,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DroppedEntry<'a> {
    #[serde(borrow)]
    message: DroppedMessage<'a>,
    #[serde(borrow)]
    attachment: Block<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DroppedMessage<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// A block, or another thing that has a type.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    is_error: Truthy,
}

impl<'a> DroppedEntry<'a> {
    fn content(&self) -> Content<'a> {
        let content = self.message.content.map_or("", RawValue::get);
        match serde_json::from_str(content) {
            Ok(blocks) => Content::Blocks(blocks),
            Err(_) => Content::Text(serde_json::from_str(content).unwrap_or_default()),
        }
    }
}

/// The content of a message: a text or blocks.
enum Content<'a> {
    Text(Text<'a>),
    Blocks(Vec<Block<'a>>),
}

impl Content<'_> {
    fn is_interruption(&self) -> bool {
        let text = match self {
            Self::Text(text) => text.as_deref(),
            Self::Blocks(blocks) => blocks.first().and_then(|block| block.text.as_deref()),
        };
        text.is_some_and(|text| text.starts_with(INTERRUPTED))
    }

    /// Returns whether all calls that it answers have failed.
    fn is_failed_result(&self) -> bool {
        let failed =
            |block: &Block<'_>| block.kind.as_deref() == Some("tool_result") && block.is_error.0;
        match self {
            Self::Text(_) => false,
            Self::Blocks(blocks) => !blocks.is_empty() && blocks.iter().all(failed),
        }
    }
}
