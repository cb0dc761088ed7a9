//! The sub-agents of a session: transcripts of their own below the session's directory.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::files::entries;
use crate::text::Text;

/// How deep below `subagents/` transcripts are looked for.
const DEEPEST: usize = 8;

/// The transcript of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentFile {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
}

/// Who started a sub-agent.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Parents {
    pub(crate) tool_use_id: Option<String>,
    pub(crate) agent_id: Option<String>,
}

/// All `.jsonl` files below a session's `subagents/`, by name; links are not followed.
pub(crate) fn transcripts(session_dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let top = session_dir.join("subagents");
    if is_real_dir(session_dir) && is_real_dir(&top) {
        collect(&top, DEEPEST, &mut found);
    }
    found
}

fn collect(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let mut paths = entries(directory);
    paths.sort();
    for path in paths {
        let Ok(meta) = fs::symlink_metadata(&path) else {
            continue;
        };
        if meta.is_dir() && depth > 0 {
            collect(&path, depth - 1, found);
        } else if meta.is_file() && path.extension().is_some_and(|ext| ext == "jsonl") {
            found.push(path);
        }
    }
}

fn is_real_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// The sub-agents among the transcripts.
pub(crate) fn agents(session_dir: &Path) -> Vec<AgentFile> {
    let named = |path: PathBuf| {
        let stem = path.file_stem()?.to_str()?;
        let id = stem.strip_prefix("agent-")?.to_owned();
        Some(AgentFile { id, path })
    };
    transcripts(session_dir)
        .into_iter()
        .filter_map(named)
        .collect()
}

/// The file beside a sub-agent's transcript that says who started it.
pub(crate) fn metadata_path(transcript: &Path) -> PathBuf {
    transcript.with_extension("meta.json")
}

/// Who started the sub-agent; unknown if the file beside it cannot be read.
pub(crate) fn parents_of(transcript: &Path) -> Parents {
    fs::read(metadata_path(transcript))
        .ok()
        .and_then(|text| parents_in(&text))
        .unwrap_or_default()
}

/// Who started the sub-agent, from its metadata.
pub(crate) fn parents_in(metadata: &[u8]) -> Option<Parents> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata<'a> {
        #[serde(borrow, default)]
        tool_use_id: Text<'a>,
        #[serde(borrow, default)]
        parent_agent_id: Text<'a>,
    }
    let metadata: Metadata<'_> = serde_json::from_slice(metadata).ok()?;
    Some(Parents {
        tool_use_id: metadata.tool_use_id.into_string(),
        agent_id: metadata.parent_agent_id.into_string(),
    })
}
