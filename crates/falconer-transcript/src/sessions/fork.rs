//! Copying a session under a new id, so that it can go on in another direction.

use std::collections::HashMap;

use falconer_protocol::{MessageUuid, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::prompt::trim;
use crate::entry::{Kind, RawEntry};
use crate::error::SessionError;
use crate::id::{is_uuid, new_session_id, new_uuid};
use crate::index::{Compaction, Index, Node};
use crate::lines::Lines;
use crate::session_entry::{SessionEntry, object};
use crate::time::now;

/// Fields that describe the source's own run and must not be copied.
const NOT_COPIED: [&str; 4] = ["teamName", "agentName", "slug", "sourceToolAssistantUUID"];

/// What part of a session is copied, and how the copy is called.
///
/// ```
/// use falconer::sessions::ForkOptions;
///
/// let options = ForkOptions::new().title("another way");
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct ForkOptions {
    pub(crate) up_to: Option<String>,
    pub(crate) title: Option<String>,
}

impl ForkOptions {
    /// The whole session, under its title and ` (fork)`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Copies up to and including the message with this id.
    ///
    /// The boundary of a compaction, or an entry between it and its summary, stands for
    /// the message before the boundary. The summary itself is copied without the messages
    /// that the compaction kept.
    pub fn up_to(mut self, message_uuid: impl Into<String>) -> Self {
        self.up_to = Some(message_uuid.into());
        self
    }

    /// The title of the copy.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The title of the copy, given the one of the source.
    pub(crate) fn title_from(&self, source: Option<&str>) -> String {
        let own = self
            .title
            .as_deref()
            .map(trim)
            .filter(|title| !title.is_empty());
        match own {
            Some(own) => own.to_owned(),
            None => format!("{} (fork)", source.unwrap_or("Forked session")),
        }
    }
}

/// A copy that is ready to be written.
#[derive(Debug)]
pub(crate) struct Fork<'a> {
    source: &'a SessionId,
    pub(crate) id: SessionId,
    nodes: Vec<Node>,
    /// The new id of each copied entry.
    uuids: HashMap<String, MessageUuid>,
    /// The parents of progress entries, which are not copied.
    progress: HashMap<String, Option<String>>,
    /// The boundary whose kept messages are left out.
    bare_boundary: Option<usize>,
    session_state: SessionState,
    now: String,
}

/// The fields of a copied entry that are not those of its source.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Renewed<'a> {
    parent_uuid: Option<&'a MessageUuid>,
    uuid: Option<&'a MessageUuid>,
    session_id: &'a SessionId,
    is_sidechain: bool,
}

/// The field that says where a copied entry is from.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Copied<'a> {
    forked_from: Source<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Source<'a> {
    session_id: &'a SessionId,
    message_uuid: &'a str,
}

/// What a session remembers outside of its messages and a copy takes along.
#[derive(Debug, Default)]
struct SessionState {
    replacements: Vec<Value>,
    latch: Option<Value>,
    tools: Vec<String>,
}

impl<'a> Fork<'a> {
    /// Reads the source once and decides what is copied.
    pub(crate) fn plan(
        lines: &mut dyn Lines,
        source: &'a SessionId,
        up_to: Option<&str>,
    ) -> Result<Self, SessionError> {
        let mut session_state = SessionState::default();
        let index = Index::with_others(lines, &mut |entry, line| {
            session_state.consider(entry, line, source);
        })?;
        let mut nodes = index.nodes;
        nodes.retain(|node| !node.sidechain);
        let mut bare_boundary = None;
        if let Some(up_to) = up_to {
            let at = nodes.iter().position(|node| node.uuid == up_to);
            let at = at.ok_or_else(|| SessionError::MessageNotFound {
                session: source.to_string(),
                message: up_to.to_owned(),
            })?;
            let cut = cut_at(&nodes, at);
            nodes.truncate(cut.length);
            bare_boundary = cut.bare_boundary;
        }
        if nodes.iter().all(|node| node.kind == Kind::Progress) {
            return Err(SessionError::NothingToFork {
                session: source.to_string(),
            });
        }
        let uuids = nodes
            .iter()
            .map(|node| (node.uuid.clone(), new_uuid()))
            .collect();
        let progress = nodes.iter().filter(|node| node.kind == Kind::Progress);
        let progress = progress.map(|node| (node.uuid.clone(), node.parent.clone()));
        Ok(Self {
            source,
            id: new_session_id(),
            progress: progress.collect(),
            nodes,
            uuids,
            bare_boundary,
            session_state,
            now: now(),
        })
    }

    /// Produces the lines of the copy, without newlines.
    pub(crate) fn write(
        &self,
        lines: &mut dyn Lines,
        title: &str,
        each: &mut dyn FnMut(String) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let written = |node: &&Node| node.kind != Kind::Progress;
        let last = self.nodes.iter().rposition(|node| written(&node));
        let mut line = Vec::new();
        for (at, node) in self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| written(node))
        {
            lines.read(node.span, &mut line)?;
            let Ok(entry) = serde_json::from_slice(&line) else {
                continue;
            };
            let mut copy = self.copy(node, entry);
            if Some(at) == last {
                // The newest entry is the leaf; the copy is newer than its source.
                copy.insert("timestamp".to_owned(), self.now.as_str().into());
            }
            if Some(at) == self.bare_boundary {
                without_kept(&mut copy);
            }
            each(Value::Object(copy).to_string())?;
        }
        for entry in self.session_entries(title) {
            each(entry.to_line())?;
        }
        Ok(())
    }

    fn copy(&self, node: &Node, mut entry: Map<String, Value>) -> Map<String, Value> {
        entry.extend(object(&Renewed {
            parent_uuid: self.parent_of(node),
            uuid: self.uuids.get(&node.uuid),
            session_id: &self.id,
            is_sidechain: false,
        }));
        for name in ["logicalParentUuid", "compactMetadata"] {
            if let Some(value) = entry.get_mut(name) {
                self.remap(value);
            }
        }
        for name in NOT_COPIED {
            entry.shift_remove(name);
        }
        entry.extend(object(&Copied {
            forked_from: Source {
                session_id: self.source,
                message_uuid: &node.uuid,
            },
        }));
        entry
    }

    /// The nearest ancestor that is copied; progress entries are not.
    fn parent_of(&self, node: &Node) -> Option<&MessageUuid> {
        let mut parent = node.parent.as_deref()?;
        // A loop in damaged parents must not hold us forever.
        for _ in 0..=self.progress.len() {
            match self.progress.get(parent) {
                Some(further) => parent = further.as_deref()?,
                None => return self.uuids.get(parent),
            }
        }
        None
    }

    /// Replaces every old id in a value; an id that is not copied becomes null.
    fn remap(&self, value: &mut Value) {
        match value {
            Value::String(text) if is_uuid(text) => {
                let new = self.uuids.get(text.as_str());
                *value = new.map(MessageUuid::as_str).into();
            }
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.remap(item));
                items.retain(|item| !item.is_null());
            }
            Value::Object(fields) => fields.values_mut().for_each(|field| self.remap(field)),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Returns the entries that are about the session, not about a message; the title is last.
    fn session_entries(&self, title: &str) -> Vec<SessionEntry<'_>> {
        let (session_id, timestamp) = (&self.id, self.now.as_str());
        let mut entries = Vec::new();
        let state = &self.session_state;
        if !state.replacements.is_empty() {
            entries.push(SessionEntry::ContentReplacement {
                session_id,
                replacements: &state.replacements,
                uuid: new_uuid(),
                timestamp,
            });
        }
        if let Some(atis) = &state.latch {
            entries.push(SessionEntry::AtisLatch { session_id, atis });
        }
        if !state.tools.is_empty() {
            entries.push(SessionEntry::ToolsUsed {
                tools: state.tools.clone(),
                session_id,
            });
        }
        entries.push(SessionEntry::CustomTitle {
            custom_title: title.to_owned(),
            session_id,
            uuid: Some(new_uuid()),
            timestamp: Some(self.now.clone()),
        });
        entries
    }
}

impl SessionState {
    fn consider(&mut self, entry: &RawEntry<'_>, line: &[u8], source: &SessionId) {
        let kind = entry.kind.as_deref().unwrap_or_default();
        if !matches!(kind, "content-replacement" | "atis-latch" | "tools-used")
            || entry.session_id.as_deref() != Some(source.as_str())
        {
            return;
        }
        let Ok(entry) = serde_json::from_slice::<StateEntry>(line) else {
            return;
        };
        self.replacements.extend(entry.replacements);
        for tool in entry.tools {
            if !self.tools.contains(&tool) {
                self.tools.push(tool);
            }
        }
        self.latch = entry.atis.or(self.latch.take());
    }
}

/// The fields of the entries that a copy takes along.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StateEntry {
    replacements: Vec<Value>,
    tools: Vec<String>,
    atis: Option<Value>,
}

/// Where a copy ends.
struct Cut {
    length: usize,
    bare_boundary: Option<usize>,
}

/// Where a copy up to entry `at` ends, so that no compaction is cut in half.
fn cut_at(nodes: &[Node], at: usize) -> Cut {
    let boundaries = nodes.iter().enumerate().rev();
    for (boundary, node) in boundaries.filter(|(boundary, _)| *boundary <= at) {
        let Some(anchor) = anchor_of(nodes, node) else {
            continue;
        };
        // A boundary that a rewind wrote has its anchor before it and stands on its own.
        if anchor > boundary && at < anchor {
            return Cut {
                length: boundary,
                bare_boundary: None,
            };
        }
        return Cut {
            length: at + 1,
            bare_boundary: (at == anchor && anchor > boundary).then_some(boundary),
        };
    }
    Cut {
        length: at + 1,
        bare_boundary: None,
    }
}

/// The entry that the messages kept by a compaction follow: usually its summary.
fn anchor_of(nodes: &[Node], boundary: &Node) -> Option<usize> {
    let compaction = boundary.compaction.as_ref()?;
    let named = match compaction {
        Compaction {
            preserved_messages: Some(kept),
            ..
        } => Some(&kept.anchor_uuid),
        Compaction {
            preserved_segment: Some(kept),
            ..
        } => Some(&kept.anchor_uuid),
        Compaction { .. } => None,
    };
    nodes.iter().position(|node| match named {
        Some(anchor) => node.uuid == *anchor,
        None => node.parent.as_deref() == Some(boundary.uuid.as_str()) && node.compact_summary,
    })
}

/// Removes what a boundary says about kept messages.
fn without_kept(boundary: &mut Map<String, Value>) {
    if let Some(Value::Object(metadata)) = boundary.get_mut("compactMetadata") {
        for name in ["preservedSegment", "preservedMessages", "postTokens"] {
            metadata.shift_remove(name);
        }
    }
}
