//! As much of a transcript's entry as shows where it belongs.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::text::{Text, Truthy};

/// The fields of an entry that matter here, borrowed from its line.
#[derive(Debug, Default)]
pub(crate) struct RawEntry<'a> {
    pub(crate) kind: Text<'a>,
    pub(crate) subtype: Text<'a>,
    pub(crate) uuid: Text<'a>,
    pub(crate) parent: Text<'a>,
    pub(crate) session_id: Text<'a>,
    pub(crate) timestamp: Text<'a>,
    pub(crate) agent_id: Text<'a>,
    pub(crate) source_assistant: Text<'a>,
    pub(crate) sidechain: Truthy,
    pub(crate) meta: Truthy,
    pub(crate) team: Truthy,
    pub(crate) compact_summary: Truthy,
    pub(crate) message: Option<&'a RawValue>,
    pub(crate) compact_metadata: Option<&'a RawValue>,
}

/// The kinds of entry that form the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    User,
    Assistant,
    System,
    Attachment,
    Progress,
}

impl Kind {
    /// Returns the kind of an entry of the conversation.
    pub(crate) fn of(entry: &RawEntry<'_>) -> Option<Self> {
        Some(match entry.kind.as_deref()? {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "system" => Self::System,
            "attachment" => Self::Attachment,
            "progress" => Self::Progress,
            _ => return None,
        })
    }

    pub(crate) fn is_spoken(self) -> bool {
        matches!(self, Self::User | Self::Assistant)
    }
}

impl<'de> Deserialize<'de> for RawEntry<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = RawEntry<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawEntry<'de>, A::Error> {
        let mut entry = RawEntry::default();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match key.as_deref().unwrap_or_default() {
                "type" => entry.kind = map.next_value()?,
                "subtype" => entry.subtype = map.next_value()?,
                "uuid" => entry.uuid = map.next_value()?,
                "parentUuid" => entry.parent = map.next_value()?,
                "sessionId" => entry.session_id = map.next_value()?,
                "timestamp" => entry.timestamp = map.next_value()?,
                "agentId" => entry.agent_id = map.next_value()?,
                "sourceToolAssistantUUID" => entry.source_assistant = map.next_value()?,
                "isSidechain" => entry.sidechain = map.next_value()?,
                "isMeta" => entry.meta = map.next_value()?,
                "teamName" => entry.team = map.next_value()?,
                "isCompactSummary" => entry.compact_summary = map.next_value()?,
                "message" => entry.message = Some(map.next_value()?),
                "compactMetadata" => entry.compact_metadata = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(entry)
    }
}

/// The ids in a message that say what belongs together.
#[derive(Debug, Default)]
pub(crate) struct MessageIds {
    /// The response this is a part of.
    pub(crate) response: Option<String>,
    /// The tool calls it makes.
    pub(crate) calls: Vec<String>,
    /// The tool calls it answers.
    pub(crate) answers: Vec<String>,
    /// Whether it has a tool result at all, with or without an id.
    pub(crate) has_result: bool,
}

impl MessageIds {
    pub(crate) fn of(message: Option<&RawValue>) -> Self {
        let parsed = message.and_then(|raw| serde_json::from_str::<RawMessage<'_>>(raw.get()).ok());
        let Some(message) = parsed else {
            return Self::default();
        };
        let mut ids = Self {
            response: message.id.non_empty().map(str::to_owned),
            ..Self::default()
        };
        let content = message.content.map_or("", RawValue::get);
        let blocks: Vec<&RawValue> = if content.starts_with('[') {
            serde_json::from_str(content).unwrap_or_default()
        } else {
            Vec::new()
        };
        for block in blocks {
            ids.add(block);
        }
        ids
    }

    fn add(&mut self, block: &RawValue) {
        let Ok(block) = serde_json::from_str::<RawBlock<'_>>(block.get()) else {
            return;
        };
        match block.kind.as_deref() {
            Some("tool_use") => self.calls.extend(block.id.into_string()),
            Some("tool_result") => {
                self.has_result = true;
                self.answers.extend(block.tool_use_id.into_string());
            }
            _ => {}
        }
    }
}

#[derive(Deserialize)]
struct RawMessage<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawBlock<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    tool_use_id: Text<'a>,
}
