//! From the tree of entries to the one conversation that goes on.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::compaction::relink_newest;
use crate::index::{Index, Node};

/// The number of compactions of a transcript that are followed.
const BOUNDARIES: usize = 64;

/// A conversation, as positions in the index.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) entries: Vec<usize>,
    /// What the next entry follows.
    pub(super) leaf: Option<usize>,
    /// What the newest conversation has after its end.
    pub(super) dropped: Vec<usize>,
}

/// The conversation to the newest end of the tree.
pub(super) fn newest(index: &mut Index) -> Conversation {
    relink_newest(index, BOUNDARIES);
    let Some(end) = newest_end(index) else {
        return Conversation::default();
    };
    let by_uuid = index.by_uuid();
    let path = path_to(index, &by_uuid, end);
    let entries = with_parallel_calls(index, &by_uuid, &path);
    // What follows the last result follows all calls; what follows another block cuts them off.
    let leaf = entries.last().copied().or(Some(end));
    Conversation {
        entries,
        leaf,
        dropped: Vec::new(),
    }
}

/// The conversation that ends with an entry; none if there is no such entry.
///
/// An entry of the newest conversation cuts that; any other is the end of its own branch.
pub(super) fn up_to(index: &mut Index, uuid: &str) -> Option<Conversation> {
    let mut entries = newest(index).entries;
    let mut dropped = Vec::new();
    let is_it = |at: &usize| index.nodes[*at].uuid == uuid && index.nodes[*at].kind.is_spoken();
    if let Some(last) = entries.iter().rposition(is_it) {
        dropped = entries.split_off(last + 1);
    } else {
        let by_uuid = index.by_uuid();
        let end = *by_uuid.get(uuid)?;
        let node = &index.nodes[end];
        if !node.kind.is_spoken() || node.is_aside() {
            return None;
        }
        entries = path_to(index, &by_uuid, end);
    }
    let leaf = entries.last().copied();
    Some(Conversation {
        entries,
        leaf,
        dropped,
    })
}

/// The entries from the root to `end`, without those of sub-agents and team mates.
fn path_to(index: &Index, by_uuid: &HashMap<&str, usize>, end: usize) -> Vec<usize> {
    let mut path = index.path_to(by_uuid, end);
    path.retain(|at| !index.nodes[*at].is_aside());
    path
}

/// The entry written last that nothing follows. Sub-agents and team mates do not count.
fn newest_end(index: &Index) -> Option<usize> {
    let main = |at: &usize| !index.nodes[*at].is_aside();
    let all = || (0..index.nodes.len()).filter(main);
    let parents: HashSet<&str> = all()
        .filter_map(|at| index.nodes[at].parent.as_deref())
        .collect();
    let is_end = |at: &usize| !parents.contains(index.nodes[*at].uuid.as_str());
    // With nothing but loops there is no end; then what was written last is one.
    all().rev().find(is_end).or_else(|| all().next_back())
}

/// Adds the calls and results of parallel tools, which a path misses.
///
/// The blocks of a response are chained, and each result hangs on its own call. The path to
/// the end follows only one of those branches.
fn with_parallel_calls(
    index: &Index,
    by_uuid: &HashMap<&str, usize>,
    path: &[usize],
) -> Vec<usize> {
    let children = children(index, by_uuid);
    let mut seen: HashSet<usize> = path.iter().copied().collect();
    let mut whole = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some(first) = rest.first() {
        let response = index.nodes[*first].response();
        let same = |at: &&usize| response.is_some() && index.nodes[**at].response() == response;
        let (blocks, after) = rest.split_at(rest.iter().take_while(same).count().max(1));
        whole.extend(blocks);
        let next = after.first().map(|next| &index.nodes[*next]);
        let last = blocks.last().map(|last| &index.nodes[*last]);
        if response.is_some() && !last.is_some_and(|last| was_cut(last, next)) {
            let missed = missed(index, &children, blocks);
            whole.extend(missed.into_iter().filter(|at| seen.insert(*at)));
        }
        rest = after;
    }
    whole
}

/// Whether somebody took up the conversation in the middle of a response.
fn was_cut(node: &Node, next: Option<&Node>) -> bool {
    node.ids.calls.is_empty() && next.is_some_and(|next| next.kind.is_spoken() && !next.is_answer())
}

/// The rest of a response, given its blocks on the path, then the results of all.
fn missed(index: &Index, children: &HashMap<usize, Vec<usize>>, on_path: &[usize]) -> Vec<usize> {
    let mut blocks = on_path.to_vec();
    let mut known: HashSet<usize> = on_path.iter().copied().collect();
    let response = on_path.first().and_then(|at| index.nodes[*at].response());
    let mut results = BTreeSet::new();
    let mut next = 0;
    // Blocks that follow blocks: only so do they belong together. Servers may repeat ids.
    while let Some(block) = blocks.get(next).copied() {
        next += 1;
        for child in children.get(&block).into_iter().flatten() {
            let node = &index.nodes[*child];
            if node.response().is_some() && node.response() == response {
                if known.insert(*child) {
                    blocks.push(*child);
                }
            } else if node.is_answer() && !node.is_aside() {
                results.insert(*child);
            }
        }
    }
    let mut missed = blocks.split_off(on_path.len());
    missed.extend(results);
    missed
}

/// The entries that hang on each entry, by parent or as the result of its call.
fn children(index: &Index, by_uuid: &HashMap<&str, usize>) -> HashMap<usize, Vec<usize>> {
    let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, node) in index.nodes.iter().enumerate() {
        // An entry that was written again replaces its older copy.
        if by_uuid.get(node.uuid.as_str()) != Some(&at) {
            continue;
        }
        let named = [node.parent.as_deref(), node.source_assistant.as_deref()];
        for parent in named.into_iter().flatten() {
            if let Some(parent) = by_uuid.get(parent) {
                let known = children.entry(*parent).or_default();
                if known.last() != Some(&at) {
                    known.push(at);
                }
            }
        }
    }
    children
}
