//! The summary a store keeps beside a session, so that listing needs no transcript.

use std::path::{Path, PathBuf};

use falconer_protocol::SessionId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entry::SessionStoreEntry;
use super::key::SessionKey;
use crate::sessions::{FirstPrompt, SessionInfo, UserEntry, may_be_prompt};
use crate::time::parse_time;

/// The summary of one session in a store.
///
/// Serializes as the official TypeScript SDK's `SessionSummaryEntry`, so that both can use
/// the same store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SummaryEntry {
    /// The session.
    pub session_id: SessionId,
    /// Time of the store's write, in milliseconds by the clock of
    /// [`SessionListing::modified`](super::SessionListing::modified); 0 until then.
    pub mtime: i64,
    /// Gathered facts. A store keeps them as they are.
    pub data: Map<String, Value>,
}

/// Fields of which the last value counts, and what they are called in a summary.
const LAST_WINS: [(&str, &str); 5] = [
    ("customTitle", "customTitle"),
    ("aiTitle", "aiTitle"),
    ("lastPrompt", "lastPrompt"),
    ("summary", "summaryHint"),
    ("gitBranch", "gitBranch"),
];

/// Adds entries to the summary of a session.
///
/// A store calls this in `append` for main transcripts and then sets
/// [`SummaryEntry::mtime`] to its own time. Nothing older is read again.
pub fn fold_session_summary(
    previous: Option<&SummaryEntry>,
    key: &SessionKey,
    entries: &[SessionStoreEntry],
) -> SummaryEntry {
    let mut summary = previous.cloned().unwrap_or_else(|| SummaryEntry {
        session_id: key.session_id.clone(),
        mtime: 0,
        data: Map::new(),
    });
    for entry in entries {
        fold(&mut summary.data, entry);
    }
    summary
}

fn fold(data: &mut Map<String, Value>, entry: &SessionStoreEntry) {
    let Value::Object(fields) = entry.to_value() else {
        return;
    };
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let sidechain = fields.get("isSidechain") == Some(&Value::Bool(true));
    data.entry("isSidechain").or_insert(Value::from(sidechain));
    if let Some(time) = text("timestamp").and_then(parse_time) {
        data.entry("createdAt")
            .or_insert(Value::from(time.as_millisecond()));
    }
    if let Some(cwd) = text("cwd").filter(|cwd| !cwd.is_empty()) {
        data.entry("cwd").or_insert(Value::from(cwd));
    }
    fold_first_prompt(data, entry);
    for (name, called) in LAST_WINS {
        if let Some(value) = text(name) {
            data.insert(called.to_owned(), Value::from(value));
        }
    }
    if text("type") == Some("tag") {
        match text("tag").filter(|tag| !tag.is_empty()) {
            Some(tag) => data.insert("tag".to_owned(), Value::from(tag)),
            None => data.remove("tag"),
        };
    }
}

fn fold_first_prompt(data: &mut Map<String, Value>, entry: &SessionStoreEntry) {
    let line = entry.as_json().as_bytes();
    if data.get("firstPromptLocked") == Some(&Value::Bool(true)) || !may_be_prompt(line) {
        return;
    }
    let Ok(user) = serde_json::from_slice::<UserEntry<'_>>(line) else {
        return;
    };
    let known = data.get("commandFallback").and_then(Value::as_str);
    let mut first = FirstPrompt {
        prompt: None,
        command: known.map(str::to_owned),
    };
    let found = user.texts().iter().any(|text| first.consider(text));
    if let Some(command) = first.command {
        data.insert("commandFallback".to_owned(), Value::from(command));
    }
    if found {
        data.insert("firstPrompt".to_owned(), Value::from(first.prompt));
        data.insert("firstPromptLocked".to_owned(), Value::from(true));
    }
}

impl SummaryEntry {
    /// Returns the time of the store's write.
    pub fn modified(&self) -> Timestamp {
        Timestamp::from_millisecond(self.mtime).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Returns the entry of the session in a list; `None` for a sub-agent's or one without anything
    /// to show.
    pub(crate) fn info(&self, project_path: Option<&Path>) -> Option<SessionInfo> {
        if self.data.get("isSidechain") == Some(&Value::Bool(true)) {
            return None;
        }
        let text = |name: &str| {
            let text = self.data.get(name).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let custom_title = text("customTitle").or_else(|| text("aiTitle"));
        let first_prompt = text("firstPrompt").or_else(|| text("commandFallback"));
        let summary = custom_title
            .clone()
            .or_else(|| text("lastPrompt"))
            .or_else(|| text("summaryHint"))
            .or_else(|| first_prompt.clone())?;
        let created = self.data.get("createdAt").and_then(Value::as_i64);
        Some(SessionInfo {
            session_id: self.session_id.clone(),
            summary,
            last_modified: self.modified(),
            file_size: None,
            custom_title,
            first_prompt,
            git_branch: text("gitBranch"),
            cwd: text("cwd")
                .map(PathBuf::from)
                .or(project_path.map(Path::to_path_buf)),
            tag: text("tag"),
            created_at: created.and_then(|millis| Timestamp::from_millisecond(millis).ok()),
            archived: None,
        })
    }
}
