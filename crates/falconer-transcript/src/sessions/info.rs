//! What a list shows of a session, taken from the ends of its transcript.

use std::path::{Path, PathBuf};

use falconer_protocol::SessionId;
use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::archive::ArchiveMark;
use super::ends::Ends;
use super::prompt::first_prompt;
use super::scan::{self, Of, first_raw, has_true, last_field, last_raw};
use crate::time::parse_time;

/// What is known of a session without reading all of it.
///
/// Serializes to the shape of the official SDK's `SDKSessionInfo`: camel case, times in
/// milliseconds, unknown fields left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionInfo {
    /// The session.
    pub session_id: SessionId,
    /// What to show: the title, else the last prompt, a summary or the first prompt.
    pub summary: String,
    /// When the transcript was last written.
    #[serde(serialize_with = "as_millis")]
    pub last_modified: Timestamp,
    /// The size of the transcript in bytes; `None` from a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size: Option<u64>,
    /// The title a person or the model gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_title: Option<String>,
    /// The first thing a person asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_prompt: Option<String>,
    /// The git branch at the end of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// The working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// When the session began.
    #[serde(
        serialize_with = "as_optional_millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub created_at: Option<Timestamp>,
    /// Whether it is archived; `None` if it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}

impl SessionInfo {
    /// What is left of a session whose transcript cannot be loaded.
    pub(crate) fn unreadable(session_id: SessionId, last_modified: Timestamp) -> Self {
        Self {
            session_id,
            summary: String::new(),
            last_modified,
            file_size: None,
            custom_title: None,
            first_prompt: None,
            git_branch: None,
            cwd: None,
            tag: None,
            created_at: None,
            archived: None,
        }
    }
}

fn as_millis<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(time.as_millisecond())
}

fn as_optional_millis<S: Serializer>(
    time: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.map(Timestamp::as_millisecond).serialize(serializer)
}

/// Reads the info out of the ends of a transcript.
///
/// `None` for the transcript of a sub-agent and for one that has nothing to show.
pub(crate) fn info_from_ends(
    session_id: SessionId,
    ends: &Ends,
    project_path: Option<&Path>,
) -> Option<SessionInfo> {
    let (head, tail) = (ends.head(), ends.tail());
    if is_sidechain(head) {
        return None;
    }
    let custom_title = title(ends);
    let first_prompt = first_prompt(head);
    let summary = custom_title
        .clone()
        .or_else(|| full(last_field(tail, "lastPrompt", Of::Any)))
        .or_else(|| full(last_field(tail, "summary", Of::Any)))
        .or_else(|| first_prompt.clone())?;
    let cwd = full(first_raw(head, "cwd")).map(PathBuf::from);
    Some(SessionInfo {
        session_id,
        summary,
        last_modified: ends.modified,
        file_size: Some(ends.size),
        custom_title,
        first_prompt,
        git_branch: full(last_raw(tail, "gitBranch"))
            .or_else(|| full(first_raw(head, "gitBranch"))),
        cwd: cwd.or_else(|| project_path.map(Path::to_path_buf)),
        tag: full(last_field(tail, "tag", Of::Type("tag"))),
        created_at: first_raw(head, "timestamp").and_then(|text| parse_time(&text)),
        archived: None,
    })
}

/// The title: the person's before the model's, the end of the transcript before its head.
pub(crate) fn title(ends: &Ends) -> Option<String> {
    let (head, tail) = (ends.head(), ends.tail());
    let of = |piece, key, kind| full(last_field(piece, key, Of::Type(kind)));
    of(tail, "customTitle", "custom-title")
        .or_else(|| of(head, "customTitle", "custom-title"))
        .or_else(|| of(tail, "aiTitle", "ai-title"))
        .or_else(|| of(head, "aiTitle", "ai-title"))
}

/// Whether a program, not a person, ran the session.
pub(crate) fn is_programmatic(head: &[u8]) -> bool {
    let entrypoint = first_raw(head, "entrypoint");
    let kind = scan::lines(head)
        .next()
        .and_then(|line| first_raw(line, "sessionKind"));
    matches!(entrypoint.as_deref(), Some("sdk-cli" | "sdk-ts" | "sdk-py"))
        || matches!(kind.as_deref(), Some("daemon" | "daemon-worker"))
}

/// Whether the transcript is a sub-agent's; its first line says so.
pub(crate) fn is_sidechain(head: &[u8]) -> bool {
    scan::lines(head)
        .next()
        .is_some_and(|line| has_true(line, "isSidechain"))
}

/// Adds what the archive mark says, which a later prompt overrules.
pub(crate) fn with_archive_mark(
    mut info: SessionInfo,
    mark: ArchiveMark,
    ends: &Ends,
) -> SessionInfo {
    info.archived = Some(mark.archived && !super::archive::prompted_since(mark.at, ends.tail()));
    info
}

fn full(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}
