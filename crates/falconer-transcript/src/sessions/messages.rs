//! The messages of a session, read one at a time.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use super::chain::{conversation, subagent_conversation};
use super::subagents::Parents;
use crate::entry::{Kind, RawEntry};
use crate::error::SessionError;
use crate::index::{Index, SkippedLines};
use crate::lines::{Lines, Span};
use crate::time::parse_time;

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MessageKind {
    /// The person, or the results of tools.
    User,
    /// The model.
    Assistant,
    /// The CLI, such as the boundary of a compaction.
    System,
}

/// One message of a session.
///
/// Serializes to the shape of the official SDK's `SessionMessage`.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SessionMessage {
    /// Who it is from.
    #[serde(rename = "type")]
    pub kind: MessageKind,
    /// The id of the message, for [`Sessions::fork`](super::Sessions::fork).
    pub uuid: String,
    /// The session it was written in; a fork keeps no trace of its source here.
    pub session_id: String,
    /// The message as the API knows it; system messages have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Box<RawValue>>,
    /// The tool call that started the sub-agent this is from.
    pub parent_tool_use_id: Option<String>,
    /// The sub-agent that started the sub-agent this is from.
    pub parent_agent_id: Option<String>,
    /// When it was written.
    #[serde(serialize_with = "as_text", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// What kind of system message this is.
    #[serde(skip)]
    pub subtype: Option<String>,
    /// Whether this is the summary that a compaction wrote.
    #[serde(skip)]
    pub is_compact_summary: bool,
}

fn as_text<S: serde::Serializer>(
    time: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.map(|time| format!("{time:.3}")).serialize(serializer)
}

/// Whether system messages are among the messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SystemMessages {
    /// They are left out.
    #[default]
    Exclude,
    /// They are included.
    Include,
}

/// The messages of one session, in the order of the conversation.
///
/// Only positions are held; each message is read when it is asked for. `skip` does not
/// read what it skips.
#[derive(Debug)]
pub struct Messages {
    lines: Box<dyn Lines>,
    positions: std::vec::IntoIter<Span>,
    parents: Parents,
    skipped: SkippedLines,
    line: Vec<u8>,
}

impl Messages {
    pub(crate) fn of_session(
        mut lines: Box<dyn Lines>,
        system: SystemMessages,
    ) -> Result<Self, SessionError> {
        let mut index = Index::of(lines.as_mut())?;
        let chain = conversation(&mut index);
        let visible = |at: &usize| {
            let node = &index.nodes[*at];
            let of_kind = match node.kind {
                Kind::User | Kind::Assistant => true,
                Kind::System => system == SystemMessages::Include,
                Kind::Attachment | Kind::Progress => false,
            };
            of_kind && !node.meta && !node.is_aside()
        };
        let shown: Vec<usize> = chain.into_iter().filter(visible).collect();
        Ok(Self::at(lines, &index, &shown, Parents::default()))
    }

    pub(crate) fn of_subagent(
        mut lines: Box<dyn Lines>,
        parents: Parents,
    ) -> Result<Self, SessionError> {
        let index = Index::of(lines.as_mut())?;
        let mut shown = subagent_conversation(&index);
        shown.retain(|at| index.nodes[*at].kind.is_spoken());
        Ok(Self::at(lines, &index, &shown, parents))
    }

    fn at(lines: Box<dyn Lines>, index: &Index, shown: &[usize], parents: Parents) -> Self {
        let positions: Vec<Span> = shown.iter().map(|at| index.nodes[*at].span).collect();
        Self {
            lines,
            positions: positions.into_iter(),
            parents,
            skipped: index.skipped,
            line: Vec::new(),
        }
    }

    /// Lines of the transcript that could not be read.
    pub fn skipped_lines(&self) -> SkippedLines {
        self.skipped
    }

    fn read(&mut self, span: Span) -> Result<SessionMessage, SessionError> {
        self.lines.read(span, &mut self.line)?;
        let entry: RawEntry<'_> = serde_json::from_slice(&self.line).unwrap_or_default();
        Ok(message(entry, &self.parents))
    }
}

impl Iterator for Messages {
    type Item = Result<SessionMessage, SessionError>;

    fn next(&mut self) -> Option<Self::Item> {
        let span = self.positions.next()?;
        Some(self.read(span))
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let span = self.positions.nth(n)?;
        Some(self.read(span))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.positions.size_hint()
    }
}

impl ExactSizeIterator for Messages {}

fn message(entry: RawEntry<'_>, parents: &Parents) -> SessionMessage {
    SessionMessage {
        kind: match entry.kind.as_deref() {
            Some("user") => MessageKind::User,
            Some("system") => MessageKind::System,
            _ => MessageKind::Assistant,
        },
        uuid: entry.uuid.into_string().unwrap_or_default(),
        session_id: entry.session_id.into_string().unwrap_or_default(),
        message: entry.message.map(ToOwned::to_owned),
        parent_tool_use_id: parents.tool_use_id.clone(),
        parent_agent_id: parents.agent_id.clone(),
        timestamp: entry.timestamp.as_deref().and_then(parse_time),
        subtype: entry.subtype.into_string(),
        is_compact_summary: entry.compact_summary.0,
    }
}
