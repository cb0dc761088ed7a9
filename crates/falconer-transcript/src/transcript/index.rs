//! The index of a transcript: one small node per entry of the conversation.
//!
//! The entries themselves stay in the file; a node knows where to read its own again.

use std::collections::HashMap;
use std::fs::File;
use std::io;

use serde_json::Value;

use super::cost::CostState;
use super::lines::{Span, scan};

/// What an entry of the conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Assistant,
    Attachment,
    System,
    Progress,
}

/// One entry of the conversation.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Span,
    pub(super) kind: Kind,
    pub(super) uuid: String,
    pub(super) parent: Option<String>,
    /// Written by a sub-agent or a team mate.
    pub(super) aside: bool,
    /// The response that an assistant entry is a part of.
    pub(super) response: Option<String>,
    /// The tool calls it makes.
    pub(super) calls: Vec<String>,
    /// The tool calls it answers.
    pub(super) answers: Vec<String>,
    /// The entry of the call that it answers.
    pub(super) source: Option<String>,
    /// The compaction it is the boundary of.
    pub(super) kept: Option<Kept>,
    /// A word of the engine in the user's place.
    pub(super) is_note: bool,
    /// All calls it answers have failed.
    pub(super) is_failed_result: bool,
    /// A prompt that joined a running turn.
    pub(super) is_queued_prompt: bool,
}

/// What a compaction kept of the conversation before it.
#[derive(Debug)]
pub(super) struct Kept {
    /// The entry the kept ones follow now.
    pub(super) anchor: String,
    pub(super) entries: KeptEntries,
}

/// Which entries were kept.
#[derive(Debug)]
pub(super) enum KeptEntries {
    Named(Vec<String>),
    /// The first and the last of a chain.
    Segment(String, String),
}

/// A whole transcript.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// In the order of the file.
    pub(super) nodes: Vec<Node>,
    pub(super) facts: Facts,
    /// Lines that are no JSON object.
    pub(super) damaged: u64,
    pub(super) too_long: u64,
}

/// What a transcript says about its session; the last word counts.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) cost: Option<CostState>,
    pub(super) custom_title: Option<String>,
    pub(super) last_prompt: Option<String>,
    pub(super) tools_used: Vec<String>,
}

impl Index {
    /// Reads a transcript once, one line at a time.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let mut index = Self::default();
        let too_long = scan(file, &mut |span, line| index.add(span, line))?;
        index.too_long = too_long;
        Ok(index)
    }

    fn add(&mut self, span: Span, line: &[u8]) {
        match serde_json::from_slice::<Value>(line) {
            Ok(entry) if entry.is_object() => {
                self.nodes.extend(Node::of(span, &entry));
                self.facts.learn(&entry);
            }
            _ => self.damaged += 1,
        }
    }

    /// The nodes by id; of two with the same id the later one counts.
    pub(super) fn by_uuid(&self) -> HashMap<&str, usize> {
        let pairs = self.nodes.iter().enumerate();
        pairs.map(|(at, node)| (node.uuid.as_str(), at)).collect()
    }
}

impl Facts {
    fn learn(&mut self, entry: &Value) {
        match entry["type"].as_str().unwrap_or_default() {
            "cost-state" if entry.get("totalCostUSD").is_some() => {
                self.cost = Some(CostState::of_entry(entry));
            }
            "custom-title" => {
                let title = text(entry, "customTitle");
                self.custom_title = title.filter(|title| !title.is_empty());
            }
            "last-prompt" => self.last_prompt = text(entry, "lastPrompt"),
            "tools-used" => {
                let tools = entry["tools"].as_array().into_iter().flatten();
                let tools = tools.filter_map(Value::as_str);
                self.tools_used = tools.map(str::to_owned).collect();
            }
            _ => {}
        }
    }
}

impl Node {
    /// The node of an entry, if it is part of a conversation.
    fn of(span: Span, entry: &Value) -> Option<Self> {
        let kind = match entry["type"].as_str()? {
            "user" => Kind::User,
            "assistant" => Kind::Assistant,
            "attachment" => Kind::Attachment,
            "system" => Kind::System,
            "progress" => Kind::Progress,
            _ => return None,
        };
        let blocks = || entry["message"]["content"].as_array().into_iter().flatten();
        let ids = |block_type: &str, id: &str| -> Vec<String> {
            let found = blocks().filter(|block| block["type"] == block_type);
            found.filter_map(|block| text(block, id)).collect()
        };
        let is_assistant = kind == Kind::Assistant;
        let none = Vec::new;
        Some(Self {
            span,
            kind,
            uuid: text(entry, "uuid")?,
            parent: text(entry, "parentUuid").filter(|parent| !parent.is_empty()),
            aside: entry["isSidechain"] == true || entry["teamName"].is_string(),
            response: text(&entry["message"], "id").filter(|_| is_assistant),
            calls: if is_assistant {
                ids("tool_use", "id")
            } else {
                none()
            },
            answers: if is_assistant {
                none()
            } else {
                ids("tool_result", "tool_use_id")
            },
            source: text(entry, "sourceToolAssistantUUID"),
            kept: Kept::of(entry),
            is_note: is_note(entry),
            is_failed_result: is_failed_result(entry),
            is_queued_prompt: entry["attachment"]["type"] == "queued_command",
        })
    }

    pub(super) fn is_spoken(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant)
    }

    pub(super) fn is_result(&self) -> bool {
        !self.answers.is_empty()
    }
}

fn is_note(entry: &Value) -> bool {
    let content = &entry["message"]["content"];
    let said = content.as_str().or_else(|| content[0]["text"].as_str());
    let is_cut = said.is_some_and(|text| text.starts_with("[Request interrupted by user"));
    entry["isMeta"] == true || is_cut
}

fn is_failed_result(entry: &Value) -> bool {
    let blocks = entry["message"]["content"].as_array();
    let mut results = blocks.into_iter().flatten().peekable();
    let is_failed = |block: &Value| block["type"] == "tool_result" && block["is_error"] == true;
    results.peek().is_some() && results.all(is_failed)
}

impl Kept {
    fn of(entry: &Value) -> Option<Self> {
        if entry["subtype"] != "compact_boundary" {
            return None;
        }
        let metadata = &entry["compactMetadata"];
        let named = &metadata["preservedMessages"];
        if let (Some(anchor), Some(uuids)) = (text(named, "anchorUuid"), named["uuids"].as_array())
        {
            let uuids = uuids.iter().filter_map(Value::as_str);
            let entries = KeptEntries::Named(uuids.map(str::to_owned).collect());
            return Some(Self { anchor, entries });
        }
        let segment = &metadata["preservedSegment"];
        Some(Self {
            anchor: text(segment, "anchorUuid")?,
            entries: KeptEntries::Segment(text(segment, "headUuid")?, text(segment, "tailUuid")?),
        })
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}
