//! The session of a run.

use super::Options;

/// The start of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) continue_latest: bool,
    pub(crate) resume: Option<String>,
    pub(crate) resume_at: Option<String>,
    pub(crate) resume_drops_turn: Option<String>,
    pub(crate) fork: bool,
}

/// Recorded settings of this file.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionOptions {
    pub(crate) start: Start,
    pub(crate) id: Option<String>,
    pub(crate) unsaved: bool,
    pub(crate) checkpoint_files: bool,
}

impl Options {
    /// Goes on with the newest session of the working directory.
    ///
    /// Carried by `--continue`. Default: a new session.
    #[must_use]
    pub fn continue_latest(mut self) -> Self {
        self.launch.session.start.continue_latest = true;
        self
    }

    /// Goes on with this session.
    ///
    /// Carried by `--resume`. Default: a new session.
    #[must_use]
    pub fn resume(mut self, session: impl Into<String>) -> Self {
        self.launch.session.start.resume = Some(session.into());
        self
    }

    /// Forgets everything after this message of the resumed session.
    ///
    /// Carried by `--resume-session-at`. Default: the whole session.
    #[must_use]
    pub fn resume_at(mut self, message: impl Into<String>) -> Self {
        self.launch.session.start.resume_at = Some(message.into());
        self
    }

    /// Refuses to resume unless exactly the turn of this message is forgotten.
    ///
    /// Needs [`Options::resume_at`]. Carried by `--resume-drops-turn`. Default: not checked.
    #[must_use]
    pub fn resume_drops_turn(mut self, message: impl Into<String>) -> Self {
        self.launch.session.start.resume_drops_turn = Some(message.into());
        self
    }

    /// Resumes into a new session and leaves the old one as it is.
    ///
    /// Carried by `--fork-session`. Default: the session is continued.
    #[must_use]
    pub fn fork_session(mut self) -> Self {
        self.launch.session.start.fork = true;
        self
    }

    /// Gives the new session this id, which must be a UUID.
    ///
    /// Carried by `--session-id`. Default: the engine makes one.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.launch.session.id = Some(id.into());
        self
    }

    /// Writes no transcript; the session cannot be resumed.
    ///
    /// Carried by `--no-session-persistence`. Default: saved.
    #[must_use]
    pub fn without_persistence(mut self) -> Self {
        self.launch.session.unsaved = true;
        self
    }

    /// Keeps copies of changed files, so that they can be rewound.
    ///
    /// Carried by `CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING`. Default: off.
    #[must_use]
    pub fn checkpoint_files(mut self) -> Self {
        self.launch.session.checkpoint_files = true;
        self
    }
}
