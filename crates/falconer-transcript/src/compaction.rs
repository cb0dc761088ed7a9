//! Putting the messages a compaction kept behind its summary.
//!
//! A compaction starts a new chain: boundary, summary, what follows. Messages it kept stay
//! where they were in the file; the boundary says which they are and which entry (the
//! anchor, usually the summary) they come after now.

use std::collections::{HashMap, HashSet};

use crate::index::{Compaction, Index};

/// Changes the parents of the nodes as the compactions ask for, the oldest first.
pub(crate) fn relink(index: &mut Index) {
    for at in boundaries(index) {
        if let Some((kept, anchor)) = preserved(index, at) {
            move_behind(index, &kept, anchor);
        }
    }
}

/// The same for the newest compactions only, and without making loops.
///
/// What is before them is no longer said, and each costs a walk over all entries.
pub(crate) fn relink_newest(index: &mut Index, most: usize) {
    let boundaries = boundaries(index);
    let skipped = boundaries.len().saturating_sub(most);
    for at in boundaries.into_iter().skip(skipped) {
        if let Some((kept, anchor)) = preserved(index, at)
            && !is_before(index, &kept, &anchor)
        {
            move_behind(index, &kept, anchor);
        }
    }
}

/// Returns the boundaries of compactions that kept something.
fn boundaries(index: &Index) -> Vec<usize> {
    let keeps = |at: &usize| index.nodes[*at].compaction.is_some();
    (0..index.nodes.len()).filter(keeps).collect()
}

/// Returns whether one of the nodes is before the anchor already; moving it would make a loop.
fn is_before(index: &Index, kept: &[usize], anchor: &str) -> bool {
    let by_uuid = index.by_uuid();
    let Some(anchor) = by_uuid.get(anchor) else {
        return false;
    };
    let before: HashSet<usize> = index.ancestors(&by_uuid, *anchor).collect();
    kept.iter().any(|at| before.contains(at))
}

/// Puts the kept nodes between the anchor and what followed it.
fn move_behind(index: &mut Index, kept: &[usize], anchor: String) {
    let (Some(first), Some(last)) = (kept.first().copied(), kept.last().copied()) else {
        return;
    };
    let last_uuid = index.nodes[last].uuid.clone();
    for (at, node) in index.nodes.iter_mut().enumerate() {
        if node.parent.as_deref() == Some(anchor.as_str()) && !kept.contains(&at) {
            node.parent = Some(last_uuid.clone());
        }
    }
    index.nodes[first].parent = Some(anchor);
    for pair in kept.windows(2) {
        index.nodes[pair[1]].parent = Some(index.nodes[pair[0]].uuid.clone());
    }
}

/// The nodes that the compaction at a boundary kept, in order, and its anchor; all must exist.
fn preserved(index: &Index, boundary: usize) -> Option<(Vec<usize>, String)> {
    let compaction = index.nodes[boundary].compaction.as_ref()?;
    let by_uuid = index.by_uuid();
    let (kept, anchor) = match compaction {
        Compaction {
            preserved_messages: Some(kept),
            ..
        } => {
            let uuids = kept.uuids.iter();
            let nodes = uuids.map(|uuid| by_uuid.get(uuid.as_str()).copied());
            (nodes.collect::<Option<_>>()?, &kept.anchor_uuid)
        }
        Compaction {
            preserved_segment: Some(segment),
            ..
        } => {
            let (head, tail) = (segment.head_uuid.as_str(), segment.tail_uuid.as_str());
            (
                segment_nodes(index, &by_uuid, head, tail)?,
                &segment.anchor_uuid,
            )
        }
        Compaction { .. } => return None,
    };
    by_uuid
        .contains_key(anchor.as_str())
        .then(|| (kept, anchor.clone()))
}

/// The nodes from `head` to `tail`, found by walking up from the tail.
fn segment_nodes(
    index: &Index,
    by_uuid: &HashMap<&str, usize>,
    head: &str,
    tail: &str,
) -> Option<Vec<usize>> {
    let mut nodes = Vec::new();
    let mut at = *by_uuid.get(tail)?;
    // A loop in damaged parents must not hold us forever.
    while nodes.len() <= index.nodes.len() {
        nodes.push(at);
        let node = &index.nodes[at];
        if node.uuid == head {
            nodes.reverse();
            return Some(nodes);
        }
        at = *by_uuid.get(node.parent.as_deref()?)?;
    }
    None
}
