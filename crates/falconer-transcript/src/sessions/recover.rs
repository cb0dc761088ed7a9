//! Putting back what parallel tool calls left off the path.
//!
//! A response with several tool calls is written as one entry per call, chained one after
//! another, and each result hangs on its own call. The path to the leaf follows one of
//! those branches only. Here the others are found and put right after their response.

use std::collections::{HashMap, HashSet};

use crate::index::{Index, Node};

/// The chain with the calls and results of its responses that were off the path.
pub(crate) fn with_parallel_results(
    index: &Index,
    by_uuid: &HashMap<&str, usize>,
    chain: Vec<usize>,
) -> Vec<usize> {
    let groups = Groups::of(index, by_uuid);
    let mut seen: HashSet<usize> = chain.iter().copied().collect();
    let mut done: HashSet<&str> = HashSet::new();
    let mut inserts: HashMap<usize, Vec<usize>> = HashMap::new();
    // Behind the last entry of each response that is on the path.
    let anchors: HashMap<&str, usize> = chain
        .iter()
        .filter_map(|at| Some((index.nodes[*at].response()?, *at)))
        .collect();
    for at in &chain {
        let Some(response) = index.nodes[*at].response() else {
            continue;
        };
        if !done.insert(response) {
            continue;
        }
        let missing = groups.missing(index, &chain, &seen, response);
        seen.extend(&missing);
        if let Some(anchor) = anchors.get(response) {
            inserts.insert(*anchor, missing);
        }
    }
    let mut whole = Vec::with_capacity(seen.len());
    for at in chain {
        whole.push(at);
        whole.extend(inserts.remove(&at).unwrap_or_default());
    }
    whole
}

/// What belongs together in the whole transcript.
struct Groups<'a> {
    /// The entries of each response.
    responses: HashMap<&'a str, Vec<usize>>,
    /// The entry that made each call; `None` if two responses claim it.
    owners: HashMap<&'a str, Option<usize>>,
    /// The results that may belong to an entry.
    results: HashMap<usize, Vec<usize>>,
}

impl<'a> Groups<'a> {
    fn of(index: &'a Index, by_uuid: &HashMap<&str, usize>) -> Self {
        let mut groups = Self {
            responses: HashMap::new(),
            owners: HashMap::new(),
            results: HashMap::new(),
        };
        // An entry that was written again replaces its older copy.
        let current = |at: &usize| by_uuid.get(index.nodes[*at].uuid.as_str()) == Some(at);
        let all: Vec<usize> = (0..index.nodes.len()).filter(current).collect();
        for at in &all {
            groups.add_response(index, *at);
        }
        for at in all {
            let node = &index.nodes[at];
            if node.response().is_none() && node.is_tool_result() {
                groups.add_result(index, by_uuid, at);
            }
        }
        groups
    }

    fn add_response(&mut self, index: &'a Index, at: usize) {
        let node = &index.nodes[at];
        let Some(response) = node.response() else {
            return;
        };
        self.responses.entry(response).or_default().push(at);
        for call in &node.ids.calls {
            let same = |owner: &Option<usize>| {
                owner.is_some_and(|owner| index.nodes[owner].response() == Some(response))
            };
            let owner = match self.owners.get(call.as_str()) {
                Some(owner) if !same(owner) => None,
                _ => Some(at),
            };
            self.owners.insert(call, owner);
        }
    }

    /// Files a result under its parent, its source and the owners of the calls it answers.
    fn add_result(&mut self, index: &Index, by_uuid: &HashMap<&str, usize>, at: usize) {
        let node = &index.nodes[at];
        let parent = node.parent.as_deref().and_then(|uuid| by_uuid.get(uuid));
        let source = node.source_assistant.as_deref();
        let source = source.and_then(|uuid| by_uuid.get(uuid)).copied();
        let owners = node.ids.answers.iter();
        let owners = owners.filter_map(|call| self.owners.get(call.as_str()).copied().flatten());
        let own = source
            .into_iter()
            .chain(owners)
            .filter(|owner| node.same_writer(&index.nodes[*owner]));
        let places: Vec<usize> = parent.copied().into_iter().chain(own).collect();
        for place in places {
            self.results.entry(place).or_default().push(at);
        }
    }

    /// The entries of a response and their results that are not in `seen`, in order.
    fn missing(
        &self,
        index: &Index,
        chain: &[usize],
        seen: &HashSet<usize>,
        response: &str,
    ) -> Vec<usize> {
        let members = self.responses.get(response).map_or(&[][..], Vec::as_slice);
        let uuids: HashSet<&str> = members
            .iter()
            .map(|at| index.nodes[*at].uuid.as_str())
            .collect();
        let (mut results, strays) = self.results_of(index, seen, members, &uuids);
        let open = self.answering_open_calls(index, chain, members, &results, strays);
        results.extend(open);
        let mut missing: Vec<usize> = members
            .iter()
            .filter(|at| !seen.contains(at))
            .copied()
            .collect();
        missing.sort_by(|a, b| index.nodes[*a].timestamp.cmp(&index.nodes[*b].timestamp));
        results.sort_by(|a, b| index.nodes[*a].timestamp.cmp(&index.nodes[*b].timestamp));
        missing.extend(results);
        missing
    }

    /// The unseen results of a response: those that hang on it, and strays that do not.
    fn results_of(
        &self,
        index: &Index,
        seen: &HashSet<usize>,
        members: &[usize],
        uuids: &HashSet<&str>,
    ) -> (Vec<usize>, Vec<usize>) {
        let mut collected = HashSet::new();
        let filed = members.iter().filter_map(|member| self.results.get(member));
        filed
            .flatten()
            .copied()
            .filter(|at| !seen.contains(at) && collected.insert(*at))
            .partition(|at| {
                let parent = index.nodes[*at].parent.as_deref();
                parent.is_some_and(|parent| uuids.contains(parent))
            })
    }

    /// The strays that answer a call of the response which nothing else answers.
    fn answering_open_calls(
        &self,
        index: &Index,
        chain: &[usize],
        members: &[usize],
        results: &[usize],
        mut strays: Vec<usize>,
    ) -> Vec<usize> {
        if strays.is_empty() {
            return strays;
        }
        let answers = |at: &usize| index.nodes[*at].ids.answers.iter().map(String::as_str);
        let mut answered: HashSet<&str> = chain
            .iter()
            .flat_map(answers)
            .chain(results.iter().flat_map(answers))
            .collect();
        strays.sort_unstable();
        strays.retain(|at| {
            let node: &Node = &index.nodes[*at];
            let opens = node.ids.answers.iter().any(|call| {
                let owner = self.owners.get(call.as_str()).copied().flatten();
                !answered.contains(call.as_str())
                    && owner.is_some_and(|owner| members.contains(&owner))
            });
            if opens {
                answered.extend(node.ids.answers.iter().map(String::as_str));
            }
            opens
        });
        strays
    }
}
