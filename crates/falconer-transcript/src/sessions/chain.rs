//! From a tree of entries to the one conversation a reader wants to see.

use std::collections::{HashMap, HashSet};

use super::recover::with_parallel_results;
use crate::compaction::relink;
use crate::index::{Index, Node};

/// The conversation from its root to its newest leaf, as positions in the index.
pub(crate) fn conversation(index: &mut Index) -> Vec<usize> {
    relink(index);
    let by_uuid = index.by_uuid();
    let Some(leaf) = newest_leaf(index, &by_uuid) else {
        return Vec::new();
    };
    let chain = index.path_to(&by_uuid, leaf);
    with_parallel_results(index, &by_uuid, chain)
}

/// The conversation of a sub-agent: its last message and what led to it.
pub(crate) fn subagent_conversation(index: &Index) -> Vec<usize> {
    let by_uuid = index.by_uuid();
    match index.nodes.iter().rposition(|node| node.kind.is_spoken()) {
        Some(leaf) => index.path_to(&by_uuid, leaf),
        None => Vec::new(),
    }
}

/// The newest message: the one nearest to the last entry that nothing follows.
///
/// What was written last counts, even if it is only attached to the message. Entries of
/// sub-agents and team mates neither are the end of a conversation nor continue it, unless
/// there is nothing else.
fn newest_leaf(index: &Index, by_uuid: &HashMap<&str, usize>) -> Option<usize> {
    let last_of = |counts: fn(&Node) -> bool| {
        let counted = || index.nodes.iter().filter(|node| counts(node));
        let parents: HashSet<&str> = counted()
            .filter_map(|node| node.parent.as_deref())
            .collect();
        let mut ends = (0..index.nodes.len()).rev().filter(|at| {
            let node = &index.nodes[*at];
            counts(node) && !parents.contains(node.uuid.as_str())
        });
        ends.find_map(|end| {
            let mut up = index.ancestors(by_uuid, end);
            up.find(|at| index.nodes[*at].kind.is_spoken())
        })
    };
    last_of(|node| !node.is_aside()).or_else(|| last_of(|_| true))
}
