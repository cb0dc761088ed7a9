//! The index of a transcript: one small node per entry of the conversation.
//!
//! The entries themselves stay where they are; a node knows where to read its own again.

use std::collections::HashMap;

use serde::Deserialize;

use super::entry::{Kind, MessageIds, RawEntry};
use super::error::SessionError;
use super::transcript::{Span, Transcript};

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
    pub(crate) fn of(transcript: &mut dyn Transcript) -> Result<Self, SessionError> {
        let mut index = Self::default();
        let too_long = transcript.scan(&mut |span, line| index.add(span, line))?;
        index.skipped.too_long = too_long;
        Ok(index)
    }

    fn add(&mut self, span: Span, line: &[u8]) {
        match serde_json::from_slice::<RawEntry<'_>>(line) {
            Ok(entry) => self.nodes.extend(Node::of(span, entry)),
            Err(_) => self.skipped.damaged += 1,
        }
    }

    /// The nodes by id; of two with the same id the later one counts.
    pub(crate) fn by_uuid(&self) -> HashMap<&str, usize> {
        let pairs = self.nodes.iter().enumerate();
        pairs.map(|(at, node)| (node.uuid.as_str(), at)).collect()
    }
}

impl Node {
    /// The node of an entry, if it is part of a conversation.
    pub(crate) fn of(span: Span, entry: RawEntry<'_>) -> Option<Self> {
        let kind = Kind::parse(entry.kind.as_deref()?)?;
        let uuid = entry.uuid.into_string()?;
        let spoken = entry.message.filter(|_| kind.is_spoken());
        let compaction = entry
            .compact_metadata
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
            compaction: compaction.filter(|_| entry.subtype.as_deref() == Some("compact_boundary")),
        })
    }

    /// The response an assistant entry is a part of.
    pub(crate) fn response(&self) -> Option<&str> {
        self.ids
            .response
            .as_deref()
            .filter(|_| self.kind == Kind::Assistant)
    }

    pub(crate) fn is_tool_result(&self) -> bool {
        self.kind == Kind::User && self.parent.is_some() && self.ids.has_result
    }

    /// Whether both were written by the same agent.
    pub(crate) fn same_writer(&self, other: &Self) -> bool {
        self.sidechain == other.sidechain && self.agent_id == other.agent_id
    }
}
