//! The names of transcripts in a store, and the transcript that a file belongs to.

use std::fmt;
use std::path::{Component, Path};

use falconer_protocol::SessionId;
use serde::{Deserialize, Serialize};

use crate::error::SessionError;
use crate::id::{check_file_name, check_session_id};

/// The name of a transcript in a store.
///
/// Serializes as the official SDK's `SessionKey`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionKey {
    /// Usually the [project key](crate::sessions::project_key) of the working directory; a
    /// host with many tenants may use its own.
    pub project_key: String,
    /// The session.
    pub session_id: SessionId,
    /// `None` for the main transcript, else where a sub-agent's is below it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subpath: Option<String>,
}

impl SessionKey {
    /// The key of a main transcript.
    pub fn new(project_key: impl Into<String>, session_id: SessionId) -> Self {
        Self {
            project_key: project_key.into(),
            session_id,
            subpath: None,
        }
    }

    /// The key of another transcript of the same session, such as `subagents/agent-1`.
    pub fn with_subpath(&self, subpath: impl Into<String>) -> Self {
        Self {
            subpath: Some(subpath.into()),
            ..self.clone()
        }
    }

    /// The key of the session's main transcript.
    pub fn main(&self) -> Self {
        Self {
            subpath: None,
            ..self.clone()
        }
    }

    /// The key of a transcript below `projects_dir`; `None` if the path is not one.
    ///
    /// ```
    /// use std::path::Path;
    /// use falconer::mirror::SessionKey;
    ///
    /// let file = Path::new("/home/a/.claude/projects/-srv/s1/subagents/agent-7.jsonl");
    /// let key = SessionKey::of_file(file, Path::new("/home/a/.claude/projects")).unwrap();
    /// assert_eq!(key.project_key, "-srv");
    /// assert_eq!(key.session_id.as_str(), "s1");
    /// assert_eq!(key.subpath.as_deref(), Some("subagents/agent-7"));
    /// ```
    pub fn of_file(file: &Path, projects_dir: &Path) -> Option<Self> {
        let below = file.strip_prefix(projects_dir).ok()?;
        let parts: Option<Vec<&str>> = below
            .components()
            .map(|part| match part {
                Component::Normal(name) => name.to_str(),
                _ => None,
            })
            .collect();
        match parts?.as_slice() {
            [project, file] => {
                let id = SessionId::new(file.strip_suffix(".jsonl")?);
                check_session_id(&id).ok()?;
                Some(Self::new(*project, id))
            }
            [project, session, rest @ ..] if rest.len() >= 2 => {
                let subpath = rest.join("/");
                let subpath = subpath.strip_suffix(".jsonl").unwrap_or(&subpath);
                let id = SessionId::new(*session);
                check_session_id(&id).ok()?;
                Some(Self::new(*project, id).with_subpath(subpath))
            }
            _ => None,
        }
    }

    /// Refuses a key whose parts would leave the directory they are written to.
    ///
    /// A store that makes paths of keys calls this first.
    ///
    /// # Errors
    /// [`SessionError::InvalidId`] with the part that is refused.
    pub fn check_paths(&self) -> Result<(), SessionError> {
        check_file_name("project key", &self.project_key)?;
        check_session_id(&self.session_id)?;
        let parts = self.subpath.iter().flat_map(|subpath| subpath.split('/'));
        for part in parts {
            check_file_name("subpath", part)?;
        }
        Ok(())
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project_key, self.session_id)?;
        match &self.subpath {
            Some(subpath) => write!(f, "/{subpath}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_get_the_key_of_the_transcript_they_are() {
        let cases = [
            ("/p/proj/s.jsonl", Some("proj/s")),
            (
                "/p/proj/s/subagents/agent-1.jsonl",
                Some("proj/s/subagents/agent-1"),
            ),
            (
                "/p/proj/s/subagents/workflows/r/agent-1.jsonl",
                Some("proj/s/subagents/workflows/r/agent-1"),
            ),
            ("/p/proj/s.json", None),
            ("/p/proj/s/other.jsonl", None),
            ("/p/s.jsonl", None),
            ("/q/proj/s.jsonl", None),
            ("/p/../q/proj/s.jsonl", None),
        ];
        for (file, expect) in cases {
            let key = SessionKey::of_file(Path::new(file), Path::new("/p"));
            assert_eq!(key.map(|key| key.to_string()).as_deref(), expect, "{file}");
        }
    }
}
