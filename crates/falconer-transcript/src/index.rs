//! The index of a transcript: one small node per entry of the conversation.
//!
//! The entries themselves stay where they are; a node knows where to read its own again.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use crate::entry::{Kind, MessageIds, RawEntry};
use crate::error::SessionError;
use crate::lines::{Lines, Span};

/// One entry of the conversation.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
    pub(crate) uuid: String,
    pub(crate) parent: Option<String>,
    pub(crate) timestamp: String,
    pub(crate) agent_id: Option<String>,
    pub(crate) source_assistant: Option<String>,
    pub(crate) sidechain: bool,
    pub(crate) meta: bool,
    pub(crate) team: bool,
    /// The summary that a compaction wrote.
    pub(crate) compact_summary: bool,
    pub(crate) ids: MessageIds,
    pub(crate) compaction: Option<Compaction>,
}

/// What a compaction kept of the conversation before it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compaction {
    pub(crate) preserved_messages: Option<PreservedMessages>,
    pub(crate) preserved_segment: Option<PreservedSegment>,
}

/// The entries that were kept, in order, and the one they follow now.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreservedMessages {
    pub(crate) anchor_uuid: String,
    pub(crate) uuids: Vec<String>,
}

/// The same as the two ends of a chain.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreservedSegment {
    pub(crate) head_uuid: String,
    pub(crate) anchor_uuid: String,
    pub(crate) tail_uuid: String,
}

/// All nodes of a transcript in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) nodes: Vec<Node>,
    pub(crate) skipped: SkippedLines,
}

/// Lines of a transcript that were passed over.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedLines {
    /// Lines that are no JSON object, such as a line cut by a crash.
    pub damaged: u64,
    /// Lines over the limit of 64 MiB.
    pub too_long: u64,
}

impl Index {
    /// Reads the transcript once, one line at a time.
    pub(crate) fn of(lines: &mut dyn Lines) -> Result<Self, SessionError> {
        Self::with_others(lines, &mut |_, _| {})
    }

    /// The same; hands the entries that are not part of the conversation, and their lines, to
    /// `other`.
    pub(crate) fn with_others(
        lines: &mut dyn Lines,
        other: &mut dyn FnMut(&RawEntry<'_>, &[u8]),
    ) -> Result<Self, SessionError> {
        let mut index = Self::default();
        let too_long = lines.scan(&mut |span, line| {
            let Ok(entry) = serde_json::from_slice::<RawEntry<'_>>(line) else {
                index.skipped.damaged += 1;
                return;
            };
            match Kind::of(&entry) {
                Some(kind) => index.nodes.extend(Node::new(span, kind, entry)),
                None => other(&entry, line),
            }
        })?;
        index.skipped.too_long = too_long;
        Ok(index)
    }

    /// Returns the nodes by id; of two with the same id the later one counts.
    pub(crate) fn by_uuid(&self) -> HashMap<&str, usize> {
        let pairs = self.nodes.iter().enumerate();
        pairs.map(|(at, node)| (node.uuid.as_str(), at)).collect()
    }

    /// Returns `start` and its parents, upwards; ends where damaged parents begin to repeat.
    pub(crate) fn ancestors<'a>(
        &'a self,
        by_uuid: &'a HashMap<&str, usize>,
        start: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let mut seen = HashSet::new();
        let parent = move |at: &usize| {
            let parent = self.nodes[*at].parent.as_deref()?;
            by_uuid.get(parent).copied()
        };
        std::iter::successors(Some(start), parent).take_while(move |at| seen.insert(*at))
    }

    /// Returns the entries from the root to `end`.
    pub(crate) fn path_to(&self, by_uuid: &HashMap<&str, usize>, end: usize) -> Vec<usize> {
        let mut path: Vec<usize> = self.ancestors(by_uuid, end).collect();
        path.reverse();
        path
    }
}

impl Node {
    /// Returns the node of an entry of the conversation; one without an id has none.
    fn new(span: Span, kind: Kind, entry: RawEntry<'_>) -> Option<Self> {
        let uuid = entry.uuid.into_string()?;
        let spoken = entry.message.filter(|_| kind.is_spoken());
        let compaction: Option<Compaction> = entry
            .compact_metadata
            .filter(|_| entry.subtype.as_deref() == Some("compact_boundary"))
            .and_then(|raw| serde_json::from_str(raw.get()).ok());
        Some(Self {
            span,
            kind,
            uuid,
            parent: entry.parent.non_empty().map(str::to_owned),
            timestamp: entry.timestamp.into_string().unwrap_or_default(),
            agent_id: entry.agent_id.into_string(),
            source_assistant: entry.source_assistant.into_string(),
            sidechain: entry.sidechain.0,
            meta: entry.meta.0,
            team: entry.team.0,
            ids: MessageIds::of(spoken),
            compact_summary: entry.compact_summary.0,
            compaction,
        })
    }

    /// Returns whether a sub-agent or a team mate wrote it.
    pub(crate) fn is_aside(&self) -> bool {
        self.sidechain || self.team
    }

    /// Returns the response that an assistant entry is a part of.
    pub(crate) fn response(&self) -> Option<&str> {
        self.ids
            .response
            .as_deref()
            .filter(|_| self.kind == Kind::Assistant)
    }

    /// Returns whether it answers a tool call.
    pub(crate) fn is_answer(&self) -> bool {
        self.kind != Kind::Assistant && !self.ids.answers.is_empty()
    }

    pub(crate) fn is_tool_result(&self) -> bool {
        self.kind == Kind::User && self.parent.is_some() && self.ids.has_result
    }

    /// Whether both were written by the same agent.
    pub(crate) fn same_writer(&self, other: &Self) -> bool {
        self.sidechain == other.sidechain && self.agent_id == other.agent_id
    }
}
