//! Which conversation a run is about: the right one, and locked.

use falconer_event::{Body, Draft, Failure, SessionChanged, Source};

use crate::engine::{NativeSession, TurnEnd};
use crate::failure::RunFailure;
use crate::lock::{LockError, SessionLock, SessionLocks};
use crate::spec::Resume;

/// The conversation of a run.
pub(super) struct Identity {
    locks: SessionLocks,
    lock: Option<SessionLock>,
    resume: Option<Resume>,
    /// The engine's id of the session, once it has said it.
    session: Option<String>,
    /// Where the agent works, once the engine has said it.
    cwd: Option<String>,
    is_missing: bool,
}

impl Identity {
    pub(super) fn new(
        locks: SessionLocks,
        lock: Option<SessionLock>,
        resume: Option<Resume>,
    ) -> Self {
        Self {
            locks,
            lock,
            resume,
            session: None,
            cwd: None,
            is_missing: false,
        }
    }

    /// Returns `true` if the engine has named its session.
    pub(super) fn is_known(&self) -> bool {
        self.session.is_some()
    }

    /// Returns `true` if the conversation to go on with does not exist any more.
    pub(super) fn is_missing(&self) -> bool {
        self.is_missing
    }

    pub(super) fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// The conversation to go on with.
    pub(super) fn resume(&self) -> Option<&Resume> {
        self.resume.as_ref()
    }

    /// The engine names its session: is it the right one, and is it ours?
    pub(super) fn identify(&mut self, named: &NativeSession) -> Result<(), Failure> {
        if named.cwd.is_some() {
            self.cwd.clone_from(&named.cwd);
        }
        let named = &named.id;
        if self.session.as_ref() == Some(named) {
            return Ok(());
        }
        let expected = self.resume.as_ref().filter(|resume| !resume.fork);
        if self.session.is_none()
            && let Some(expected) = expected
            && expected.session != *named
        {
            return Err(RunFailure::SessionMismatch.with(format!(
                "session {} was to be resumed, but the engine answers for {named}",
                expected.session
            )));
        }
        self.take_over(named)?;
        self.session = Some(named.clone());
        Ok(())
    }

    /// Locks the session, unless it is locked already; the lock of another one is given back.
    fn take_over(&mut self, named: &str) -> Result<(), Failure> {
        let is_ours = |lock: &SessionLock| lock.session() == named;
        if self.lock.as_ref().is_some_and(is_ours) {
            return Ok(());
        }
        let lock = self.locks.try_lock(named).map_err(|error| {
            let kind = match &error {
                LockError::Held { .. } => RunFailure::SessionBusy,
                LockError::Io { .. } => RunFailure::LockFailed,
            };
            kind.with(error.to_string())
        })?;
        self.lock = Some(lock);
        Ok(())
    }

    /// A copy is told as one, with its own id, right after the run has started.
    pub(super) fn tell_of_the_copy(&self, drafts: &mut Vec<Draft>) {
        let is_copy = self.resume.as_ref().is_some_and(|resume| resume.fork);
        let started = drafts
            .iter()
            .position(|draft| matches!(draft.body, Body::RunStarted(_)));
        if let (true, Some(at), Some(session)) = (is_copy, started, &self.session) {
            let native_session = session.clone();
            let change = Body::SessionChanged(SessionChanged::Forked { native_session });
            drafts.insert(at + 1, Draft::new(Source::Falconer, change));
        }
    }

    /// Notes whether a turn failed because its conversation is gone.
    pub(super) fn note_missing(&mut self, turn: &TurnEnd) {
        let failure = turn.failure.as_ref();
        let is_missing = failure.is_some_and(|failure| failure.is_missing);
        self.is_missing |= self.session.is_none() && is_missing;
    }

    /// Lets go of a conversation that is gone; returns its id.
    pub(super) fn forget(&mut self) -> String {
        let gone = self.resume.take().map(|resume| resume.session);
        self.lock = None;
        self.is_missing = false;
        gone.unwrap_or_default()
    }

    /// Gives the lock back.
    pub(super) fn release(&mut self) {
        self.lock = None;
    }
}
