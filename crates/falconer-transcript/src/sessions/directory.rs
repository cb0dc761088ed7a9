//! The sessions below one configuration directory.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use falconer_protocol::SessionId;

use super::ends::Ends;
use super::files::Root;
use super::fork::{Fork, ForkOptions};
use super::info::{SessionInfo, title};
use super::list::{self, ListOptions};
use super::locate::{Located, Scope, find};
use super::messages::{Messages, SystemMessages};
use super::prompt::first_prompt;
use super::{archive, change, cost, subagents};
use crate::error::SessionError;
use crate::lines::FileLines;
use crate::session_entry::SessionEntry;

/// The sessions that the CLI keeps below its configuration directory.
///
/// Everything here reads and writes files directly and blocks while it does; in async code
/// call it inside `tokio::task::spawn_blocking`. The handle is cheap to clone for that.
/// Nothing locks a transcript: a CLI that has the session open sees titles and tags when it
/// next reads them.
///
/// ```
/// use falconer::sessions::{ListOptions, Sessions};
///
/// # let config = tempfile::tempdir()?;
/// let sessions = Sessions::open(config.path());
/// for info in sessions.list(&ListOptions::new().limit(10)) {
///     println!("{}  {}", info.last_modified, info.summary);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sessions {
    root: Root,
    scope: Scope,
}

impl Sessions {
    /// The sessions below `config_dir`, which need not exist.
    pub fn open(config_dir: impl AsRef<Path>) -> Self {
        Self {
            root: Root::new(config_dir.as_ref().join("projects")),
            scope: Scope::AllProjects,
        }
    }

    /// The sessions below `$CLAUDE_CONFIG_DIR`, or `~/.claude` if that is not set.
    pub fn from_env() -> Result<Self, SessionError> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let config_dir = set("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        let config_dir = config_dir.or_else(|| Some(PathBuf::from(set("HOME")?).join(".claude")));
        config_dir.map(Self::open).ok_or(SessionError::NoConfigDir)
    }

    /// The same, but only the sessions of one working directory and of the other worktrees
    /// of its git repository.
    pub fn of_directory(&self, working_directory: impl Into<PathBuf>) -> Self {
        Self {
            root: self.root.clone(),
            scope: Scope::Directory(working_directory.into()),
        }
    }

    /// The directory that holds the projects.
    pub fn projects_dir(&self) -> &Path {
        self.root.path()
    }

    /// The sessions, newest first.
    ///
    /// Reads at most 128 KiB of each transcript, whatever its size. Transcripts of
    /// sub-agents, empty and unreadable ones are left out.
    pub fn list(&self, options: &ListOptions) -> Vec<SessionInfo> {
        list::list(&self.root, &self.scope, options)
    }

    /// The session that `--continue` would take up: the newest of the scope.
    pub fn newest(&self) -> Option<SessionInfo> {
        let options = ListOptions::new()
            .limit(1)
            .worktrees(list::Worktrees::Exclude);
        self.list(&options).into_iter().next()
    }

    /// What is known of one session; `None` if it is a sub-agent's or has nothing to show.
    pub fn info(&self, id: &SessionId) -> Result<Option<SessionInfo>, SessionError> {
        let located = find(&self.root, &self.scope, id)?;
        let ends = self.ends(&located)?;
        Ok(list::info(
            id.clone(),
            &located.file,
            &located.project,
            &ends,
        ))
    }

    /// What a session has cost so far, in US dollars, as its engine keeps it; `None` if the end
    /// of its transcript does not say.
    pub fn cost(&self, id: &SessionId) -> Result<Option<f64>, SessionError> {
        let located = find(&self.root, &self.scope, id)?;
        Ok(cost::cost(&self.ends(&located)?))
    }

    /// The messages of a session, in the order of the conversation.
    ///
    /// Of a conversation that was rewound or edited this is the newest branch. After a
    /// compaction it begins with the summary. Parallel tool calls are all there.
    pub fn messages(
        &self,
        id: &SessionId,
        system: SystemMessages,
    ) -> Result<Messages, SessionError> {
        let located = find(&self.root, &self.scope, id)?;
        Messages::of_session(Box::new(self.lines(&located.file)?), system)
    }

    /// The ids of a session's sub-agents.
    pub fn subagents(&self, id: &SessionId) -> Result<Vec<String>, SessionError> {
        let located = find(&self.root, &self.scope, id)?;
        let agents = subagents::agents(&located.session_dir());
        Ok(agents.into_iter().map(|agent| agent.id).collect())
    }

    /// The messages of one sub-agent.
    pub fn subagent_messages(&self, id: &SessionId, agent: &str) -> Result<Messages, SessionError> {
        let located = find(&self.root, &self.scope, id)?;
        let mut agents = subagents::agents(&located.session_dir()).into_iter();
        let found = agents.find(|found| found.id == agent);
        let file = found.ok_or_else(|| SessionError::AgentNotFound {
            session: id.to_string(),
            agent: agent.to_owned(),
        })?;
        let parents = subagents::parents_of(&file.path);
        Messages::of_subagent(Box::new(self.lines(&file.path)?), parents)
    }

    /// Copies a session under a new id; every message gets a new id too.
    ///
    /// The copy appears whole or not at all.
    pub fn fork(&self, id: &SessionId, options: &ForkOptions) -> Result<SessionId, SessionError> {
        let located = find(&self.root, &self.scope, id)?;
        let mut lines = self.lines(&located.file)?;
        let fork = Fork::plan(&mut lines, id, options.up_to.as_deref())?;
        let ends = self.ends(&located)?;
        let source_title = title(&ends).or_else(|| first_prompt(ends.head()));
        let directory = &located.project.directory;
        let path = directory.join(format!("{}.jsonl", fork.id));
        let failed = || SessionError::io("write", &path);
        let file = tempfile::NamedTempFile::new_in(directory).map_err(failed())?;
        let mut writer = BufWriter::new(file);
        fork.write(
            &mut lines,
            &options.title_from(source_title.as_deref()),
            &mut |line| writeln!(writer, "{line}").map_err(failed()),
        )?;
        let file = writer
            .into_inner()
            .map_err(|error| failed()(error.into_error()))?;
        let persisted = file.persist_noclobber(&path);
        persisted.map_err(|error| failed()(error.error))?;
        Ok(fork.id)
    }

    /// Gives a session a title.
    pub fn rename(&self, id: &SessionId, title: &str) -> Result<(), SessionError> {
        let entry = change::title_entry(id, title)?;
        self.append(id, &entry)
    }

    /// Tags a session; it has one tag at a time.
    pub fn tag(&self, id: &SessionId, tag: &str) -> Result<(), SessionError> {
        let entry = change::tag_entry(id, tag)?;
        self.append(id, &entry)
    }

    /// Takes the tag off a session.
    pub fn clear_tag(&self, id: &SessionId) -> Result<(), SessionError> {
        self.append(id, &change::no_tag_entry(id))
    }

    /// Removes a session and its sub-agents for good.
    pub fn delete(&self, id: &SessionId) -> Result<(), SessionError> {
        change::delete(&find(&self.root, &self.scope, id)?)
    }

    /// Marks a session as archived; a later prompt takes it out again.
    pub fn archive(&self, id: &SessionId) -> Result<(), SessionError> {
        archive::write(&find(&self.root, &self.scope, id)?.session_dir(), true)
    }

    /// Takes a session out of the archive.
    pub fn unarchive(&self, id: &SessionId) -> Result<(), SessionError> {
        archive::write(&find(&self.root, &self.scope, id)?.session_dir(), false)
    }

    pub(crate) fn locate(&self, id: &SessionId) -> Result<Located, SessionError> {
        find(&self.root, &self.scope, id)
    }

    pub(crate) fn lines(&self, path: &Path) -> Result<FileLines, SessionError> {
        let file = self
            .root
            .open(path)
            .map_err(SessionError::io("read", path))?;
        Ok(FileLines::new(file, path))
    }

    fn append(&self, id: &SessionId, entry: &SessionEntry<'_>) -> Result<(), SessionError> {
        let located = find(&self.root, &self.scope, id)?;
        change::append(&self.root, &located.file, entry)
    }

    fn ends(&self, located: &Located) -> Result<Ends, SessionError> {
        let mut ends = Ends::default();
        let read = self
            .root
            .open(&located.file)
            .and_then(|file| ends.read(&file));
        read.map_err(SessionError::io("read", &located.file))?;
        Ok(ends)
    }
}
