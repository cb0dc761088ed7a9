//! Where sessions are: files of the engines. Nothing else in this command knows that.

use std::path::PathBuf;

use falconer::sessions::{
    ForkOptions, ListOptions, SessionId, SessionInfo, Sessions, SystemMessages,
};
use falconer_session::SessionLocks;

use super::conversation::{self, Part};
use crate::exit::{Exit, Fault};
use crate::places;

/// Sessions that can be listed, read and changed.
#[derive(Debug)]
pub(super) struct Shelf {
    sessions: Sessions,
}

impl Shelf {
    /// Those of all directories.
    pub(super) fn all() -> Result<Self, Fault> {
        let sessions = Sessions::from_env()?;
        Ok(Self { sessions })
    }

    /// Those of one directory.
    pub(super) fn of_directory(directory: PathBuf) -> Result<Self, Fault> {
        let sessions = Sessions::from_env()?.of_directory(directory);
        Ok(Self { sessions })
    }

    /// The newest first.
    pub(super) fn list(&self, limit: usize) -> Vec<SessionInfo> {
        let options = match limit {
            usize::MAX => ListOptions::new(),
            limit => ListOptions::new().limit(limit),
        };
        self.sessions.list(&options)
    }

    /// The one session whose id begins like this.
    pub(super) fn find(&self, beginning: &str) -> Result<SessionId, Fault> {
        let id = SessionId::new(beginning)?;
        if matches!(self.sessions.info(&id), Ok(Some(_))) {
            return Ok(id);
        }
        let all = self.list(usize::MAX);
        let ids = all.into_iter().map(|info| info.session_id);
        let matching: Vec<_> = ids
            .filter(|id| id.as_str().starts_with(beginning))
            .collect();
        match matching.as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(Fault::new(
                Exit::Session,
                format!("there is no session `{beginning}`"),
                "`falconer sessions list --all` shows what there is",
            )),
            several => {
                let several: Vec<_> = several.iter().map(SessionId::as_str).collect();
                let text = format!("`{beginning}` could be {}", several.join(" or "));
                Err(Fault::usage(text, "give more of the id"))
            }
        }
    }

    pub(super) fn title(&self, id: &SessionId) -> String {
        let info = self.sessions.info(id).ok().flatten();
        info.map_or_else(|| id.as_str().to_owned(), |info| info.summary)
    }

    /// What was said and done.
    pub(super) fn parts(&self, id: &SessionId) -> Result<Vec<Part>, Fault> {
        let mut parts = Vec::new();
        for message in self.sessions.messages(id, SystemMessages::Exclude)? {
            conversation::read(&message?, &mut parts);
        }
        Ok(parts)
    }

    /// The messages as they are, one per line.
    pub(super) fn raw(&self, id: &SessionId) -> Result<String, Fault> {
        let mut text = String::new();
        for message in self.sessions.messages(id, SystemMessages::Include)? {
            text += &serde_json::to_string(&message?).map_err(std::io::Error::other)?;
            text.push('\n');
        }
        Ok(text)
    }

    pub(super) fn fork(
        &self,
        id: &SessionId,
        title: Option<String>,
        up_to: Option<String>,
    ) -> Result<String, Fault> {
        let mut options = ForkOptions::new();
        if let Some(title) = title {
            options = options.title(title);
        }
        if let Some(message) = up_to {
            options = options.up_to(message);
        }
        Ok(self.sessions.fork(id, &options)?.as_str().to_owned())
    }

    pub(super) fn rename(&self, id: &SessionId, title: &str) -> Result<(), Fault> {
        Ok(self.sessions.rename(id, title)?)
    }

    /// Not while somebody works on it.
    pub(super) fn delete(&self, id: &SessionId) -> Result<(), Fault> {
        let locks = SessionLocks::new(places::locks_directory()?);
        let _lock = locks
            .try_lock(id.as_str())
            .map_err(falconer_session::Error::from)?;
        Ok(self.sessions.delete(id)?)
    }
}
