//! Whether a cut in a conversation drops one turn only (`--resume-drops-turn`).

use super::index::{Index, Kind, Node};

/// Why a cut is refused: it would drop more than the caller knows of.
pub(super) fn check(index: &Index, dropped: &[usize], turn: &str) -> Result<(), String> {
    if uuid::Uuid::try_parse(turn).is_err() {
        return Err(format!("the declared turn is not a UUID: {turn}"));
    }
    let mut entries = dropped.iter().map(|at| &index.nodes[*at]);
    let mut entries = entries.by_ref().filter(|node| counts(node));
    match entries.next() {
        None => return Ok(()),
        Some(first) if first.uuid == turn => {}
        Some(first) => {
            return Err(format!(
                "what would be dropped does not begin with the turn {turn}, but with {}",
                first.uuid
            ));
        }
    }
    match entries.find(|node| speaks_anew(node)) {
        None => Ok(()),
        Some(other) => Err(format!(
            "more than the turn {turn} would be dropped: {} does not belong to it",
            other.uuid
        )),
    }
}

/// Notes of the engine at the end of a turn, and failed calls, are nobody's loss.
fn counts(node: &Node) -> bool {
    match node.kind {
        Kind::Assistant => true,
        Kind::User => !node.is_note && !node.is_failed_result,
        Kind::Attachment => node.is_queued_prompt,
        Kind::System | Kind::Progress => false,
    }
}

/// Whether somebody but the model speaks.
fn speaks_anew(node: &Node) -> bool {
    match node.kind {
        Kind::User => !node.is_result(),
        Kind::Attachment => true,
        Kind::Assistant | Kind::System | Kind::Progress => false,
    }
}
